"""A configured provider: where it calls, on whose behalf, and what its resources share."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rehearsal.gcp_provider.errors import ProviderError
from rehearsal.gcp_provider.google.endpoints import bases
from rehearsal.gcp_provider.google.locks import Locks
from rehearsal.gcp_provider.google.rest import Rest

ATTRIBUTION = "goog-pulumi-provisioned"
"""The label by which the real provider marks what it creates."""
_VARIABLES = {
    "project": ("GOOGLE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT"),
    "region": ("GOOGLE_REGION", "GCLOUD_REGION", "CLOUDSDK_COMPUTE_REGION"),
    "zone": ("GOOGLE_ZONE", "GCLOUD_ZONE", "CLOUDSDK_COMPUTE_ZONE"),
}


@dataclass(frozen=True)
class Cloud:
    """What all resources of one provider have in common."""

    rest: Rest
    project: str = ""
    region: str = ""
    zone: str = ""
    default_labels: Mapping[str, str] = field(default_factory=dict)
    attribution: bool = True
    locks: Locks = field(default_factory=Locks)
    cancelled: threading.Event = field(default_factory=threading.Event)

    def project_of(self, values: Mapping[str, Any]) -> str:
        return self._stated(values, "project", self.project)

    def region_of(self, values: Mapping[str, Any]) -> str:
        """A region, by name: stated so, by link, or that of the provider or of its zone."""
        fallback = self.region if self.region else self.zone.rsplit("-", 1)[0]
        return self._stated(values, "region", fallback).rsplit("/", 1)[-1]

    def location_of(self, values: Mapping[str, Any]) -> str:
        """A region or zone."""
        return self._stated(values, "location", self.region if self.region else self.zone)

    def _stated(self, values: Mapping[str, Any], name: str, fallback: str) -> str:
        found = values.get(name)
        found = fallback if found is None or found == "" else str(found)
        if not found:
            raise ProviderError(f"{name}: required field is not set")
        return found


def configured(
    arguments: Mapping[str, Any], everything: str | None, environment: Mapping[str, str] = os.environ
) -> Cloud:
    """A provider from its inputs, as the engine sends them: everything that is not a string comes as JSON text."""
    found: dict[str, Any] = {name: _text(arguments, environment, name) for name in _VARIABLES}
    return Cloud(
        Rest(bases(everything, arguments, environment), arguments.get("accessToken")),
        **found,
        default_labels=_json(arguments.get("defaultLabels"), {}),
        attribution=_json(arguments.get("addPulumiAttributionLabel"), True) is not False,
    )


def _text(arguments: Mapping[str, Any], environment: Mapping[str, str], name: str) -> str:
    if arguments.get(name):
        return str(arguments[name])
    return next((environment[variable] for variable in _VARIABLES[name] if environment.get(variable)), "")


def _json(value: Any, default: Any) -> Any:
    if value is None or value == "":
        return default
    return json.loads(value) if isinstance(value, str) else value
