"""Where Google's APIs are. The same settings as the real provider's move them: provider arguments and environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Endpoint:
    """An API as the provider finds it. `product` is its name in `GOOGLE_<product>_CUSTOM_ENDPOINT`, `path` the version it speaks."""

    product: str
    path: str = "v1"

    @property
    def variable(self) -> str:
        return f"GOOGLE_{self.product}_CUSTOM_ENDPOINT"

    @property
    def argument(self) -> str:
        """The provider argument: `serviceUsageCustomEndpoint` for SERVICE_USAGE."""
        head, *rest = self.product.lower().split("_")
        return head + "".join(word.capitalize() for word in rest) + "CustomEndpoint"


ENDPOINTS = {
    "container": Endpoint("CONTAINER", "v1beta1"),
    "compute": Endpoint("COMPUTE", "compute/v1"),
    "serviceusage": Endpoint("SERVICE_USAGE"),
    "iam": Endpoint("IAM"),
    "storage": Endpoint("STORAGE", "storage/v1"),
    "monitoring": Endpoint("MONITORING"),
    "cloudresourcemanager": Endpoint("RESOURCE_MANAGER"),
}
"""By the first part of Google's host name."""
_VERSION = re.compile(r"(/compute|/storage)?(/(v\d+|beta|alpha)\w*)?/*$")


def bases(
    everything: str | None, arguments: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The address of each API, version and all: the provider's arguments first, then the environment, then `everything`."""
    found = {}
    for name, endpoint in ENDPOINTS.items():
        stated = arguments.get(endpoint.argument)
        for candidate in (environment.get(endpoint.variable), everything, f"https://{name}.googleapis.com"):
            stated = candidate if stated is None else stated
        found[name] = f"{_VERSION.sub('', str(stated))}/{endpoint.path}"
    return found
