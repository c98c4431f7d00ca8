"""Where the rehearsal's own provider looks for Google's APIs."""

from __future__ import annotations

import inspect

import pulumi_gcp
import pytest

from rehearsal.gcp.services import SERVICES
from rehearsal.gcp_provider.google.endpoints import ENDPOINTS, bases

pytestmark = pytest.mark.unit


def test_it_finds_each_api_of_the_rehearsal_by_the_variable_of_the_real_provider() -> None:
    products = {service.name: service.custom_endpoints for service in SERVICES}
    assert [name for name, endpoint in ENDPOINTS.items() if endpoint.product not in products.get(name, {})] == []


def test_its_arguments_are_those_of_the_package() -> None:
    known = {
        parameter.replace("_", "") for parameter in inspect.signature(pulumi_gcp.Provider._internal_init).parameters
    }
    assert [e.argument for e in ENDPOINTS.values() if e.argument.lower() not in known] == []


def test_an_argument_precedes_the_environment_and_the_environment_everything_else() -> None:
    arguments = {"computeCustomEndpoint": "http://argument/compute/beta/"}
    environment = {
        "GOOGLE_COMPUTE_CUSTOM_ENDPOINT": "http://environment/compute/v1/",
        "GOOGLE_IAM_CUSTOM_ENDPOINT": "http://environment/v1/",
    }
    found = bases("http://everything", arguments, environment)
    assert found["compute"] == "http://argument/compute/v1"
    assert found["iam"] == "http://environment/v1"
    assert found["storage"] == "http://everything/storage/v1"
    assert bases(None, {}, {})["container"] == "https://container.googleapis.com/v1beta1"
