"""What a pod may learn about itself: the downward API's fields, for environment variables and volumes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rehearsal.kubernetes import quantity

Pod = dict[str, Any]
_SUBSCRIPT = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


class FieldError(Exception):
    """A field that the downward API does not offer."""


@dataclass(frozen=True)
class Surroundings:
    """What a pod's status does not hold yet when its containers are about to start."""

    pod_ip: str
    host_ip: str
    allocatable: Mapping[str, str]


def field(pod: Pod, path: str, around: Surroundings) -> str:
    """The value of a fieldRef. Raises FieldError."""
    metadata, spec = pod["metadata"], pod["spec"]
    subscript = _SUBSCRIPT.fullmatch(path)
    if subscript:
        return str((metadata.get(subscript[1]) or {}).get(subscript[2], ""))
    values = {
        "metadata.name": metadata["name"],
        "metadata.namespace": metadata["namespace"],
        "metadata.uid": metadata["uid"],
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "status.podIP": around.pod_ip,
        "status.podIPs": around.pod_ip,
        "status.hostIP": around.host_ip,
        "status.hostIPs": around.host_ip,
    }
    if path in ("metadata.labels", "metadata.annotations"):
        return _listing(metadata.get(path.split(".")[1]) or {})
    if path not in values:
        raise FieldError(f"field {path!r} is not offered by the downward API")
    return str(values[path])


def _listing(mapping: Mapping[str, str]) -> str:
    """One line per entry, sorted, values quoted as Go's %q does for plain text."""
    lines = []
    for name, value in sorted(mapping.items()):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        lines.append(f'{name}="{quoted}"')
    return "\n".join(lines)


def resource(pod: Pod, reference: Mapping[str, Any], container: str, around: Surroundings) -> str:
    """The value of a resourceFieldRef; a limit that is not set is the node's allocatable amount. Raises FieldError."""
    wanted = reference.get("containerName") or container
    everyone = [*pod["spec"]["containers"], *(pod["spec"].get("initContainers") or [])]
    owner = next((c for c in everyone if c["name"] == wanted), None)
    kind, _, name = str(reference["resource"]).partition(".")
    if owner is None or kind not in ("limits", "requests"):
        raise FieldError(
            f"resource {reference['resource']!r} of container {wanted!r} is not offered by the downward API"
        )
    stated = (owner.get("resources") or {}).get(kind) or {}
    fallback = around.allocatable.get(name, "0") if kind == "limits" else "0"
    return quantity.divided(str(stated.get(name, fallback)), str(reference.get("divisor", "") or ""))
