"""Picks up what a killed engine left: the stack's lock, and resources whose creation it never recorded the end of.

The engine notes each creation before it starts. When it is killed in between, the note stays (`pending_operations`) and nobody
knows whether the object exists. Here each is looked up where it would be: one that exists goes into the state by its id,
and a refresh reads what it is; one that does not is forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from operations.engine import Engine, OperationError
from operations.kube import Cluster
from rehearsal.lifecycle import RehearsalError, google

SETTLE_TIMEOUT_S = 300.0
MOVING = ("PROVISIONING", "RECONCILING", "STOPPING")

_GOOGLE_IDS: dict[str, str] = {
    "gcp:container/cluster:Cluster": "projects/{project}/locations/{location}/clusters/{name}",
    "gcp:container/nodePool:NodePool": "projects/{project}/locations/{location}/clusters/{cluster}/nodePools/{name}",
    "gcp:compute/network:Network": "projects/{project}/global/networks/{name}",
    "gcp:compute/subnetwork:Subnetwork": "projects/{project}/regions/{region}/subnetworks/{name}",
    "gcp:compute/router:Router": "projects/{project}/regions/{region}/routers/{name}",
    "gcp:compute/routerNat:RouterNat": "{project}/{region}/{router}/{name}",
    "gcp:compute/firewall:Firewall": "projects/{project}/global/firewalls/{name}",
    "gcp:serviceaccount/account:Account": "projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com",
}
"""Import ids, as each resource's page in the provider's registry gives them. Enabled services and IAM members are not here:
creating one that exists is no error."""


def recover(engine: Engine, say: Callable[[str], None]) -> None:
    """Leaves the stack ready for the next `up` or `destroy`. Does nothing after a run that ended by itself."""
    if engine.unlock():
        say("  the last engine was killed: its lock is taken away")
    state = engine.export()
    deployment = state.get("deployment") or {}
    pending = deployment.get("pending_operations") or []
    if not pending:
        return
    settle(engine)
    creating = [operation["resource"] for operation in pending if operation.get("type") == "creating"]
    found = {r["urn"]: id_ for r in creating if (id_ := resource_id(r)) is not None and exists(engine, r, id_)}
    say(f"  it left {len(pending)} operations without an end: {len(found)} of their resources exist and are taken over")
    deployment["pending_operations"] = []
    deployment["resources"] += [adopted(r, found[r["urn"]]) for r in creating if r["urn"] in found]
    engine.replace(state)
    engine.run("refresh", "--yes", "--skip-preview", quiet=True)


def adopted(resource: dict[str, Any], id_: str) -> dict[str, Any]:
    """A resource as the state has it, from the note of its creation; the refresh that follows reads what it really is."""
    return {**resource, "id": id_, "custom": True, "outputs": resource.get("inputs", {})}


def settle(engine: Engine) -> None:
    """Waits until Google has finished what the killed engine had asked for: only then can be seen what there is.

    Raises OperationError after SETTLE_TIMEOUT_S.
    """
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    while True:
        state = google(engine.layout, "GET", "/_rehearsal/state")
        moving = [
            name for kind in ("clusters", "pools") for name, thing in state[kind].items() if thing["status"] in MOVING
        ]
        if not moving:
            return
        if time.monotonic() > deadline:
            raise OperationError(
                f"still changing after {SETTLE_TIMEOUT_S:.0f} s: {', '.join(moving)}\n  Look: make status"
            )
        time.sleep(0.5)


def resource_id(resource: dict[str, Any]) -> str | None:
    """The id that a resource's provider gives it, from its inputs; None for kinds that are simply created again."""
    inputs, kind = resource.get("inputs", {}), resource["type"]
    if kind.startswith("kubernetes:") and kind != "kubernetes:helm.sh/v3:Release" and "metadata" in inputs:
        metadata = inputs["metadata"]
        return "/".join(part for part in (metadata.get("namespace"), metadata.get("name")) if part)
    pattern = _GOOGLE_IDS.get(kind)
    if pattern is None:
        return None
    try:
        return pattern.format(**{key: value for key, value in inputs.items() if isinstance(value, str)})
    except KeyError:
        return None


def exists(engine: Engine, resource: dict[str, Any], id_: str) -> bool:
    """Whether the object is there, asked of the API that would have made it."""
    if resource["type"].startswith("gcp:"):
        return _google_has(engine, resource["type"], id_)
    return _cluster_has(engine, resource["inputs"])


def _google_has(engine: Engine, kind: str, id_: str) -> bool:
    if kind == "gcp:compute/routerNat:RouterNat":
        project, region, router, name = id_.split("/")
        found = _google(engine, f"/compute/v1/projects/{project}/regions/{region}/routers/{router}")
        return any(nat["name"] == name for nat in (found or {}).get("nats", []))
    return _google(engine, f"/compute/v1/{id_}" if kind.startswith("gcp:compute/") else f"/v1/{id_}") is not None


def _google(engine: Engine, path: str) -> Any:
    try:
        return google(engine.layout, "GET", path)
    except RehearsalError as error:
        if ": 404 " in str(error):
            return None
        raise


def _cluster_has(engine: Engine, inputs: dict[str, Any]) -> bool:
    group = f"/apis/{inputs['apiVersion']}" if "/" in inputs["apiVersion"] else f"/api/{inputs['apiVersion']}"
    cluster = Cluster(engine.layout)
    if not cluster.found(group):
        return False
    plural = next(
        (
            r["name"]
            for r in cluster.call("GET", group)["resources"]
            if r["kind"] == inputs["kind"] and "/" not in r["name"]
        ),
        None,
    )
    namespace = inputs["metadata"].get("namespace")
    inside = f"/namespaces/{namespace}" if namespace else ""
    return plural is not None and cluster.found(f"{group}{inside}/{plural}/{inputs['metadata']['name']}")
