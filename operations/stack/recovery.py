"""Picks up what a run that did not end well left: the stack's lock, and resources that exist and that the state does not have.

The engine notes each creation before it starts. When it is killed in between, the note stays (`pending_operations`) and nobody
knows whether the object exists. When the provider dies instead, the engine takes the lost answer for a creation that did not
happen and drops the note: every later `up` would fail, as what it creates is there already. So after such a run the next
preview is asked what it would create at Google. Each of either sort is looked up where it would be: one that exists goes into
the state by its id, and a refresh reads what it is; one that does not is forgotten.

On a real project, without `make up`, the same is done by hand. For a killed engine `pulumi refresh` asks for each note whether
the object exists, and takes its id. For an object of a provider that died (`... already exists` in the next `pulumi up`):

    pulumi import gcp:container/nodePool:NodePool nodepool1-pool projects/P/locations/L/clusters/C/nodePools/nodepool1 \
      --parent pool=URN_OF_ITS_COMPONENT --provider google=URN_OF_THE_PROVIDER --protect=false

with the URNs of `pulumi stack --show-urns` and the id in the form of `_GOOGLE_IDS`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from operations.kubernetes import CLUSTER, Cluster
from operations.stack import preexisting
from operations.stack.engine import Engine, OperationError
from rehearsal.errors import RehearsalError
from rehearsal.lifecycle import google

SETTLE_TIMEOUT_S = 300.0
MOVING = ("PROVISIONING", "RECONCILING", "STOPPING")
DELETE_UNREACHABLE = {"PULUMI_K8S_DELETE_UNREACHABLE": "true"}
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What stands in a preview for a value that is not known yet (Pulumi's sdk/go/common/resource/plugin/rpc.go)."""

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
REMOVES_POOL = "removeDefaultNodePool"
"""What the provider does when a cluster is there already, by the property that asks for it. Left out of the state of one that
was taken over, it differs, and the next `up` does it. (The provider leaves it out of one whose creation was cancelled.)"""


def recover(engine: Engine, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Leaves the stack ready for the next `up` or `destroy`, and gives the resources of its state. Changes nothing after a run
    that ended well."""
    killed = engine.unlock()
    if killed:
        say("  the last engine was killed: its lock is taken away")
    state = engine.export()
    deployment = state.get("deployment") or {}
    pending = deployment.get("pending_operations") or []
    resources: list[dict[str, Any]] = deployment.get("resources") or []
    if not pending and not killed and engine.ended_well():
        return without_lost_cluster(engine, resources, say)
    settle(engine)
    found = noted_and_there(engine, pending, say)
    lost = made_and_lost(engine, [*resources, *found], say)
    if not pending and not lost:
        return without_lost_cluster(engine, resources, say)
    resources = [*resources, *found, *lost]
    deployment |= {"pending_operations": [], "resources": resources}
    engine.replace(state)
    _refresh(engine, DELETE_UNREACHABLE if _cluster_is_lost(engine, resources) else None)
    return engine.resources()


def noted_and_there(
    engine: Engine, pending: Sequence[dict[str, Any]], say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Of the creations that were never recorded to have ended, the resources that exist."""
    found = existing(engine, [operation["resource"] for operation in pending if operation.get("type") == "creating"])
    if pending:
        say(
            f"  it left {len(pending)} operations without an end: {len(found)} of their resources exist and are taken over"
        )
    return found


def made_and_lost(engine: Engine, known: Sequence[dict[str, Any]], say: Callable[[str], None]) -> list[dict[str, Any]]:
    """What exists at Google, was made by the program and is not among the `known`."""
    lost = existing(engine, wanted_at_google(engine, say))
    urns, foreign = {resource["urn"] for resource in known}, googles_own([*known, *lost])
    lost = [resource for resource in lost if resource["urn"] not in urns and resource["id"] not in foreign]
    if lost:
        names = ", ".join(resource["urn"].rsplit("::", 1)[-1] for resource in lost)
        say(f"  made by a run that never learned of it, and taken over: {names}")
    return lost


def without_lost_cluster(
    engine: Engine, resources: list[dict[str, Any]], say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Forgets what was in a cluster that somebody has deleted at Google; gives the resources that are left.

    Kubernetes' provider does not take a cluster that does not answer for one that is gone, unless it is told to: it is by
    the variable that its own error names, so that a user of a real project reads it there.
    """
    if not _cluster_is_lost(engine, resources):
        return resources
    say("  somebody has deleted the cluster: what was in it is forgotten with it")
    _refresh(engine, DELETE_UNREACHABLE)
    return engine.resources()


def _cluster_is_lost(engine: Engine, resources: Sequence[dict[str, Any]]) -> bool:
    """Whether the state has things in a cluster, and no cluster that exists: a refresh that failed has forgotten it already."""
    inside = any(resource["type"].startswith("kubernetes:") for resource in resources)
    clusters = [resource for resource in resources if resource["type"] == CLUSTER]
    return inside and not any(exists(engine, resource, resource["id"]) for resource in clusters)


def _refresh(engine: Engine, extra: Mapping[str, str] | None = None) -> None:
    engine.run("refresh", "--yes", "--skip-preview", quiet=True, extra=extra)


def existing(engine: Engine, creating: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of resources that were to be created, those that exist, as the state is to have them. What was at Google before the stack
    is somebody else's: a stack that wants its name has to fail."""
    before = {str(thing) for things in preexisting.remembered(engine.layout).values() for thing in things}
    ids = [(resource, resource_id(resource)) for resource in creating]
    return [
        adopted(resource, id_)
        for resource, id_ in ids
        if id_ is not None and _listed(id_) not in before and exists(engine, resource, id_)
    ]


def _listed(id_: str) -> str:
    """An id as the rehearsal lists what is there: a path, and of an account its address."""
    return id_.rsplit("/serviceAccounts/", 1)[-1]


def adopted(resource: dict[str, Any], id_: str) -> dict[str, Any]:
    """A resource as the state has it, from the note of its creation; the refresh that follows reads what it really is."""
    outputs = {name: value for name, value in resource.get("inputs", {}).items() if name != REMOVES_POOL}
    return {**resource, "id": id_, "custom": True, "outputs": outputs}


def googles_own(resources: Iterable[dict[str, Any]]) -> set[str]:
    """The ids of the pools that Google made with a cluster and that its provider has not come to remove yet: a pool of the
    program's own of that name is another one, still to be made."""
    clusters = [resource for resource in resources if resource["type"] == CLUSTER]
    undone = [c for c in clusters if c["inputs"].get(REMOVES_POOL) and not c["outputs"].get(REMOVES_POOL)]
    return {f"{cluster['id']}/nodePools/default-pool" for cluster in undone}


def wanted_at_google(engine: Engine, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """What the next `up` would create at Google, in its order, without what is not known before it.

    A preview that fails counts as far as it came: what can fail in it is what is asked of the cluster, whose controllers may not
    be ready yet, and the queues and jobs come after all that is made at Google.
    """
    previewed = engine.run("preview", "--json", quiet=True, check=False)
    try:
        steps = json.loads(previewed.stdout)["steps"]
    except (ValueError, KeyError):
        say(
            f"  what Google has of a lost creation is not looked for: no preview can be made: {previewed.stderr.strip()}"
        )
        return []
    created = [
        step["newState"] for step in steps if step["op"] == "create" and step["newState"]["type"].startswith("gcp:")
    ]
    return [{**resource, "inputs": _known(resource["inputs"])} for resource in created]


def _known(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in inputs.items() if UNKNOWN not in json.dumps(value)}


def settle(engine: Engine) -> None:
    """Waits until Google has finished what the killed engine had asked for: only then can be seen what there is.

    Raises OperationError after SETTLE_TIMEOUT_S.
    """
    deadline = time.monotonic() + SETTLE_TIMEOUT_S
    while True:
        state = google(engine.layout, "GET", "/_rehearsal/state")
        moving = [name for things in state.values() for name, thing in things.items() if _moves(thing)]
        if not moving:
            return
        if time.monotonic() > deadline:
            raise OperationError(
                f"still changing after {SETTLE_TIMEOUT_S:.0f} s: {', '.join(moving)}\n  Look: make status"
            )
        time.sleep(0.5)


def _moves(thing: dict[str, Any]) -> bool:
    """Whether an operation on a thing still runs: GKE's say it by their status, those of Compute Engine are marked."""
    return thing.get("status") in MOVING or bool(thing.get("_busy"))


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
    cluster = Cluster(engine.layout)
    collection = cluster.collection(inputs, "default")
    return collection is not None and cluster.found(f"{collection}/{inputs['metadata']['name']}")
