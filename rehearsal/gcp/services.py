"""The APIs of this Google. A new one is its own module with a `SERVICE`, and one entry here."""

from __future__ import annotations

from collections.abc import Mapping

from rehearsal.gcp import compute, container, iam, monitoring, resource_manager, serviceusage, storage
from rehearsal.gcp.core import Handler, discovery
from rehearsal.gcp.core.discovery import Method
from rehearsal.gcp.core.service import Service
from rehearsal.gcp.core.state import Task

SERVICES: tuple[Service, ...] = (
    container.SERVICE,
    compute.SERVICE,
    serviceusage.SERVICE,
    iam.SERVICE,
    resource_manager.SERVICE,
    storage.SERVICE,
    monitoring.SERVICE,
)

DOCUMENTS: tuple[str, ...] = tuple(document for service in SERVICES for document in service.documents)
HANDLERS: Mapping[str, Handler] = {id_: handler for service in SERVICES for id_, handler in service.handlers.items()}
TASKS: Mapping[str, Task] = {name: task for service in SERVICES for name, task in service.tasks.items()}
BY_NAME: Mapping[str, Service] = {service.name: service for service in SERVICES}


def methods() -> tuple[Method, ...]:
    """All calls of all APIs, also those that are not simulated."""
    return discovery.methods(DOCUMENTS)


def find(verb: str, path: str) -> tuple[Method, dict[str, str]] | None:
    """The call that a request makes, with its path parameters."""
    return discovery.find(DOCUMENTS, verb, path)


_UNSUPPORTED = {"CLOUD_BILLING": "v1/", "CORE_BILLING": "v1/"}
"""Products without a service here. The real provider must not call Google for them either."""


def custom_endpoints(base: str) -> dict[str, str]:
    """The variables that make the real Pulumi provider talk to the server at `base`."""
    paths = {product: path for service in SERVICES for product, path in service.custom_endpoints.items()}
    return {
        f"GOOGLE_{product}_CUSTOM_ENDPOINT": f"{base}/{path}" for product, path in {**paths, **_UNSUPPORTED}.items()
    }


def gcloud_overrides(base: str) -> dict[str, str]:
    """The variables that make `gcloud` talk to the server at `base`."""
    return {
        f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{service.name.upper()}": f"{base}/{service.gcloud_path}"
        for service in SERVICES
    }
