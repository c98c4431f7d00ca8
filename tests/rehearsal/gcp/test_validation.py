"""Requests against Google's own descriptions: refused in the front end's words, and read into one form."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.gcp.core.errors import ApiError
from rehearsal.gcp.core.validation import check
from rehearsal.gcp.services import HANDLERS, find, methods

pytestmark = pytest.mark.unit

PATH = "/v1/projects/p/locations/us-west4/clusters/c/nodePools"


def read(pool: Any, query: dict[str, str] | None = None) -> Any:
    """What a handler would get of a pool's creation."""
    found = find("POST", PATH)
    assert found is not None
    return check(found[0], query or {}, {"nodePool": pool})["nodePool"]


@pytest.mark.parametrize(
    ("pool", "text"),
    [
        (
            {"config": {"foo": 1}},
            "Invalid JSON payload received. Unknown name \"foo\" at 'node_pool.config': Cannot find field.",
        ),
        ({"initialNodeCount": "two"}, "Invalid value at 'node_pool.initial_node_count' (TYPE_INT32), \"two\""),
        ({"initialNodeCount": 2**31}, "Invalid value at 'node_pool.initial_node_count' (TYPE_INT32), 2147483648"),
        ({"config": {"spot": "yes"}}, "Invalid value at 'node_pool.config.spot' (TYPE_BOOL), \"yes\""),
        ({"config": []}, "Unknown name \"config\" at 'node_pool': Proto field is not repeating, cannot start list."),
        (
            {"config": "x"},
            "Invalid value at 'node_pool.config' (type.googleapis.com/google.container.v1.NodeConfig), \"x\"",
        ),
        ({"config": {"labels": {"a": 1}}}, "Invalid value at 'node_pool.config.labels.a' (TYPE_STRING), 1"),
        ({"locations": [1]}, "Invalid value at 'node_pool.locations[0]' (TYPE_STRING), 1"),
        (
            {"placementPolicy": {"type": "TIGHT"}},
            "Invalid value at 'node_pool.placement_policy.type' (type.googleapis.com/google.container.v1.PlacementPolicy.Type), \"TIGHT\"",
        ),
    ],
)
def test_what_google_does_not_take(pool: dict[str, Any], text: str) -> None:
    with pytest.raises(ApiError) as caught:
        read(pool)
    assert (caught.value.code, caught.value.status) == (400, "INVALID_ARGUMENT")
    assert caught.value.message.endswith(text)
    (details,) = caught.value.details
    assert details["fieldViolations"][0]["description"].endswith(text)


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(ApiError) as caught:
        read({"config": {"foo": 1, "spot": 1}}, {"bar": "1"})
    assert [line.split('"')[1] if '"' in line else line.split("'")[1] for line in caught.value.message.splitlines()] == [
        "bar", "foo", "node_pool.config.spot",
    ]  # fmt: skip


def test_other_forms_of_the_same_are_read_as_one() -> None:
    found = read(
        {"initial_node_count": "2", "config": {"disk_size_gb": 50, "spot": None}, "selfLink": "x", "status": "ERROR"}
    )
    assert found == {"initialNodeCount": 2, "config": {"diskSizeGb": 50}}


@pytest.mark.parametrize(
    ("verb", "path", "body", "kept"),
    [
        (
            "POST",
            "/compute/beta/projects/tests-project/global/networks",
            {"name": "net", "routingConfig": {"routingMode": "REGIONAL", "deleteBgpAlwaysCompareMed": False}},
            {"name": "net", "routingConfig": {"routingMode": "REGIONAL"}},
        ),
        (
            "PATCH",
            "/compute/beta/projects/tests-project/regions/us-west4/routers/router",
            {"nats": [{"name": "nat", "initialNatIps": ["ip"]}]},
            {"nats": [{"name": "nat"}]},
        ),
    ],
)
def test_fields_that_only_the_real_provider_knows_are_accepted_and_ignored(
    verb: str, path: str, body: Any, kept: Any
) -> None:
    found = find(verb, path)
    assert found is not None
    assert check(found[0], {}, body) == kept


@pytest.mark.parametrize("field", ["deleteBgpAlwaysCompareMed", "initialNatIps"])
def test_they_are_unknown_everywhere_else(field: str) -> None:
    with pytest.raises(ApiError, match=f'Unknown name "{field}"'):
        read({field: True})


def test_every_call_that_is_supported_is_one_of_google_s() -> None:
    assert sorted(set(HANDLERS) - {method.id for method in methods()}) == []
