"""One Google API as the server, its clients and the reports need it. `rehearsal.gcp.services` lists them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from rehearsal.gcp.core.call import Handler
from rehearsal.gcp.core.state import CloudState, Task

Leftovers = Callable[[CloudState], list[str]]


@dataclass(frozen=True)
class Service:
    """Everything about one API: what it serves, what it stores, and how clients find it."""

    name: str
    """The first part of its host and of its method ids: `monitoring` of monitoring.googleapis.com."""
    versions: tuple[str, ...]
    """Versions that are served. Each has a discovery document."""
    handlers: Mapping[str, Handler]
    """By method id."""
    custom_endpoints: Mapping[str, str] = field(default_factory=dict)
    """Base paths by product, as in `GOOGLE_<product>_CUSTOM_ENDPOINT`, which the real Pulumi provider reads. They are its defaults:
    terraform-provider-google-beta's transport/config.go (`DefaultBasePaths`, `SetEndpointDefaults`)."""
    gcloud_path: str = ""
    """Base path for gcloud's `CLOUDSDK_API_ENDPOINT_OVERRIDES_<NAME>`."""
    must_be_enabled: bool = False
    """Whether every call needs the API to be enabled in its project. Other APIs check that themselves, or are always on."""
    tasks: Mapping[str, Task] = field(default_factory=dict)
    """Work of long-running operations, by name."""
    resources: Mapping[str, str] = field(default_factory=dict)
    """Kinds in the store that a destroyed platform must not leave, by their names in the report of leftovers."""
    other_state: tuple[str, ...] = ()
    """Further kinds that the state endpoint shows."""
    leftovers: Mapping[str, Leftovers] = field(default_factory=dict)
    """Further rows of the report of leftovers."""
    resume: Callable[[CloudState], None] | None = None
    """Restores what an earlier life of the server left running."""

    @property
    def host(self) -> str:
        return f"{self.name}.googleapis.com"

    @property
    def documents(self) -> tuple[str, ...]:
        """Names of its discovery documents."""
        return tuple(f"{self.name}.{version}" for version in self.versions)

    @property
    def state(self) -> tuple[str, ...]:
        """All kinds in the store that it shows."""
        return (*self.resources.values(), *self.other_state)
