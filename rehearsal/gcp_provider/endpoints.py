"""Where Google's APIs are. The same settings as the real provider's move them: provider arguments and environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Api:
    """An API and the version that the real provider speaks."""

    variable: str
    argument: str
    version: str
    host: str


APIS = {
    "container": Api("GOOGLE_CONTAINER_CUSTOM_ENDPOINT", "containerCustomEndpoint", "v1beta1", "https://container.googleapis.com"),
    "compute": Api("GOOGLE_COMPUTE_CUSTOM_ENDPOINT", "computeCustomEndpoint", "compute/v1", "https://compute.googleapis.com"),
    "serviceusage": Api("GOOGLE_SERVICE_USAGE_CUSTOM_ENDPOINT", "serviceUsageCustomEndpoint", "v1", "https://serviceusage.googleapis.com"),
    "iam": Api("GOOGLE_IAM_CUSTOM_ENDPOINT", "iamCustomEndpoint", "v1", "https://iam.googleapis.com"),
    "storage": Api("GOOGLE_STORAGE_CUSTOM_ENDPOINT", "storageCustomEndpoint", "storage/v1", "https://storage.googleapis.com"),
    "monitoring": Api("GOOGLE_MONITORING_CUSTOM_ENDPOINT", "monitoringCustomEndpoint", "v1", "https://monitoring.googleapis.com"),
    "resourcemanager": Api(
        "GOOGLE_RESOURCE_MANAGER_CUSTOM_ENDPOINT", "resourceManagerCustomEndpoint", "v1", "https://cloudresourcemanager.googleapis.com"
    ),
}  # fmt: skip
_VERSION = re.compile(r"(/compute|/storage)?(/(v\d+|beta|alpha)\w*)?/*$")


def bases(
    everything: str | None, arguments: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The address of each API, version and all: the provider's arguments first, then the environment, then `everything`."""
    found = {}
    for name, api in APIS.items():
        stated = arguments.get(api.argument)
        for candidate in (environment.get(api.variable), everything, api.host):
            stated = candidate if stated is None else stated
        found[name] = f"{_VERSION.sub('', str(stated))}/{api.version}"
    return found
