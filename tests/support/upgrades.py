"""What stacks in the field know their resources by, and what a new version of the program makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from settings.catalogue.labels import NAMESPACE
from tests.support.recording import Recording, Registered

KNOWN = Path(__file__).with_name("urns.json")
STACK = "test"
"""What the mock engine's stack is called."""
FORCED = {
    "gcp:container/cluster:Cluster": (
        "name", "location", "project", "network", "subnetwork", "networkingMode", "privateClusterConfig.masterIpv4CidrBlock",
        "privateClusterConfig.enablePrivateNodes", "ipAllocationPolicy",
    ),
    "gcp:container/nodePool:NodePool": (
        "name", "location", "project", "cluster", "placementPolicy", "queuedProvisioning", "nodeConfig.machineType",
        "nodeConfig.serviceAccount", "nodeConfig.oauthScopes", "nodeConfig.flexStart", "nodeConfig.maxRunDuration",
        "nodeConfig.spot", "nodeConfig.reservationAffinity",
    ),
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue": ("kind", "metadata.name"),
    "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue": ("kind", "metadata.name", "metadata.namespace", "spec.clusterQueue"),
}  # fmt: skip
"""What may not change of a cluster, a pool or a queue: Google's provider replaces it (ForceNew in its
`resource_container_cluster.go.tmpl`, `resource_container_node_pool.go.tmpl` and `node_config.go.tmpl`), or Kubernetes knows it
by it or refuses a change."""

Fixed = dict[str, Any]


def fixed_of(resource: Registered) -> Fixed:
    """The inputs of a resource that a change of would replace it for, as they are; None for one that it does not state."""
    return {path: _value(resource.inputs, path) for path in FORCED.get(resource.type, ())}


def _value(inputs: Any, path: str) -> Any:
    for part in path.split("."):
        inputs = inputs.get(part) if isinstance(inputs, dict) else None
    return inputs


def known() -> dict[str, Fixed]:
    """The committed list: what cannot change, by URN."""
    found: dict[str, Fixed] = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    return found


def real(urn: str) -> str:
    """A URN as a real engine has it, which leaves the stack out of a type's parents; the mock one does not."""
    return urn.replace("::pulumi:pulumi:Stack$", "::")


def by_known_urn(recording: Recording) -> dict[str, Registered]:
    """Resources by every URN that the engine would find them under."""
    by_urn = {real(resource.urn): resource for resource in recording.resources}
    return {urn: resource for resource in recording.resources for urn in _urns(resource, by_urn)}


def _urns(resource: Registered, by_urn: dict[str, Registered]) -> list[str]:
    """A resource's own URN and those it had before: by its aliases, and by those of its parents, as the engine derives them
    (pulumi's step_generator.go, `generateAliases` and `inheritedChildAlias`)."""
    parent = by_urn.get(real(resource.parent))
    parents = _urns(parent, by_urn) if parent is not None else [""]
    found = [_inside(above, resource.type, _renamed(resource.name, parent, above)) for above in parents]
    for alias in resource.aliases:
        above = [""] if alias.no_parent else [real(alias.parent)] if alias.parent else parents
        type_, name = alias.type or resource.type, alias.name or resource.name
        found += [alias.urn] if alias.urn else [_inside(urn, type_, _renamed(name, parent, urn)) for urn in above]
    return found


def _inside(parent: str, type_: str, name: str) -> str:
    chain = f"{parent.split('::')[2]}$" if parent else ""
    return f"urn:pulumi:{STACK}::{NAMESPACE}::{chain}{type_}::{name}"


def _renamed(name: str, parent: Registered | None, parent_urn: str) -> str:
    """A child that is called after its parent was called after what that was called before."""
    if parent is None or not parent_urn or not name.startswith(parent.name):
        return name
    return parent_urn.split("::", 3)[3] + name.removeprefix(parent.name)


def lost(before: dict[str, Fixed], now: Recording) -> set[str]:
    """What the engine would delete, since nothing in the program is called so."""
    return set(before) - set(by_known_urn(now))


def replaced(before: dict[str, Fixed], now: Recording) -> dict[str, list[str]]:
    """What would be replaced, with the inputs that are no longer what they were."""
    here = by_known_urn(now)
    changes = {
        urn: [path for path, value in fixed.items() if fixed_of(here[urn])[path] != value]
        for urn, fixed in before.items()
        if urn in here
    }
    return {urn: paths for urn, paths in changes.items() if paths}


def with_new(now: Recording) -> str:
    """The text of the list with what has come: nothing on it ever goes."""
    listed, here = known(), by_known_urn(now)
    taken_over = {id(here[urn]) for urn in listed if urn in here}
    new = {real(r.urn): fixed_of(r) for r in now.resources if id(r) not in taken_over}
    return json.dumps(dict(sorted({**listed, **new}.items())), indent=1) + "\n"
