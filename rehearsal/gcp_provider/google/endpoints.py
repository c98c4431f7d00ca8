"""Where Google's APIs are. The same settings as the real provider's move them: provider arguments and environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from rehearsal.gcp.services import SERVICES

_VERSION = re.compile(r"(/compute|/storage)?(/(v\d+|beta|alpha)\w*)?/*$")


def bases(
    everything: str | None, arguments: Mapping[str, Any], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """The address of each API, version and all: the provider's arguments first, then the environment, then `everything`."""
    found = {}
    for service in SERVICES:
        product = next(iter(service.custom_endpoints))
        stated = arguments.get(_argument(product))
        for candidate in (environment.get(f"GOOGLE_{product}_CUSTOM_ENDPOINT"), everything, f"https://{service.host}"):
            stated = candidate if stated is None else stated
        found[service.name] = f"{_VERSION.sub('', str(stated))}/{service.provider_path}"
    return found


def _argument(product: str) -> str:
    """The provider argument of a product: SERVICE_USAGE -> serviceUsageCustomEndpoint."""
    head, *rest = product.lower().split("_")
    return head + "".join(word.capitalize() for word in rest) + "CustomEndpoint"
