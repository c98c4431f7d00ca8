"""The kinds of compute resources, their paths and links, and how requests may name them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass

from rehearsal.gcp import projects
from rehearsal.gcp.core import ApiError, Call, Object, not_found
from rehearsal.gcp.machines import REGIONS, region_of, zones

BASE = "https://www.googleapis.com/compute/v1"
NAME = r"(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)"
_REFERENCE = re.compile(
    r"(?:https?://[^/]+/compute/[a-z0-9]+/)?(?:projects/([^/]+)/)?((?:global|regions/[^/]+)/\w+/[^/]+)"
)


@dataclass(frozen=True)
class ComputeKind:
    """A kind of resource: `plural` as in its path, `parameter` as the discovery document names it, and where it lives."""

    plural: str
    parameter: str
    regional: bool
    changes: tuple[str, ...] = ()
    """The calls that change it: `patch`, `update` or both."""
    collection: str = ""
    """What the API calls it in its method ids, where that is not `plural`."""

    @property
    def store(self) -> str:
        return f"compute-{self.plural}"

    @property
    def methods(self) -> str:
        return f"compute.{self.collection if self.collection else self.plural}"

    def scope(self, call: Call) -> str:
        return f"regions/{region(call)}" if self.regional else "global"

    def path(self, call: Call, name: str) -> str:
        return f"projects/{project(call)}/{self.scope(call)}/{self.plural}/{name}"


KINDS = (
    ComputeKind("networks", "network", False, ("patch",)),
    ComputeKind("subnetworks", "subnetwork", True, ("patch",)),
    ComputeKind("routers", "router", True, ("patch", "update")),
    ComputeKind("firewalls", "firewall", False, ("patch", "update")),
    ComputeKind("routes", "route", False),
    ComputeKind("resourcePolicies", "resourcePolicy", True, ("patch",)),
    ComputeKind("addresses", "address", True),
    ComputeKind("addresses", "address", False, collection="globalAddresses"),
)


def wrong(field: str, value: object, why: str) -> ApiError:
    """The refusal of a field's value, as compute words all of them."""
    return ApiError(400, f"Invalid value for field '{field}': '{value}'. {why}", reason="invalid")


def missing(field: str) -> ApiError:
    return ApiError(400, f"Required field '{field}' not specified", reason="required")


def absent(path: str) -> ApiError:
    return not_found(f"The resource '{path}' was not found")


def not_ready(path: str) -> ApiError:
    """The refusal of a call on something that an operation is still making, changing or deleting."""
    return ApiError(400, f"The resource '{path}' is not ready", reason="resourceNotReady")


def project(call: Call) -> str:
    """The id of the project that a path names, by id or number."""
    found = projects.resolve(call.world, call.project)
    if found is None:
        raise absent(f"projects/{call.project}")
    return found


def region(call: Call) -> str:
    if (named := call.params["region"]) not in REGIONS:
        raise wrong("region", named, "Unknown region.")
    return named


def zone(call: Call) -> str:
    if (named := call.params["zone"]) not in zones(region_of(named)):
        raise wrong("zone", named, "Unknown zone.")
    return named


def fingerprint(value: Object) -> str:
    """A mark that changes with what a resource says, for writers who must not undo each other."""
    said = {key: item for key, item in value.items() if not key.startswith("_") and key != "fingerprint"}
    return base64.b64encode(hashlib.sha256(json.dumps(said, sort_keys=True).encode()).digest()[:8]).decode()


def link(of_project: str, field: str, reference: str) -> str:
    """The full link of a resource that a request names by link or path."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise wrong(field, reference, "The URL is malformed.")
    return f"{BASE}/projects/{match[1] if match[1] else of_project}/{match[2]}"


def path_of(self_link: str) -> str:
    return self_link.removeprefix(f"{BASE}/")
