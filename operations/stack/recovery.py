"""Recovers from an interrupted run: removes the stack's lock and adopts resources that exist but are missing from the state.

The engine records each creation before it starts. If it is killed in between, the record stays (`pending_operations`), and the
object may or may not exist. If the provider dies instead, the engine treats the missing response as a failed creation and drops
the record: every later `up` would fail with "already exists". So after such a run a preview lists what would be created at
Google. Each candidate of either sort is looked up: one that exists is added to the state by its id, and a refresh reads its
properties; one that does not is dropped.

On a real project, without `make up`, do the same by hand. After a killed engine, `pulumi refresh` asks about each record whether
the object exists, and for its id. For an object of a provider that died (`... already exists` in the next `pulumi up`):

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
from policies.steps import name_of, steps_of
from policies.values import UNKNOWN
from rehearsal.errors import RehearsalError
from rehearsal.lifecycle import google

SETTLE_TIMEOUT_S = 300.0
MOVING = ("PROVISIONING", "RECONCILING", "STOPPING")
DELETE_UNREACHABLE = {"PULUMI_K8S_DELETE_UNREACHABLE": "true"}
API_NEVER_ENABLED = "has not been used in project"
"""In Google's 403 for an API that is not enabled."""

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
"""Import ids, from each resource's page in the provider's registry. Enabled services and IAM members are left out: creating one
that exists is not an error."""
REMOVES_POOL = "removeDefaultNodePool"
"""The property that makes the provider remove the default pool of a finished cluster. The state of an adopted cluster omits it,
so it shows as a difference and the next `up` removes the pool. (The provider omits it after a cancelled creation too.)"""


def recover(engine: Engine, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Makes the stack ready for the next `up` or `destroy`, and returns the resources of its state. Changes nothing after a
    successful run."""
    killed = engine.unlock()
    if killed:
        say("  the last engine was killed: its lock is removed")
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
    """The resources that exist among the creations without a recorded end."""
    found = existing(engine, [operation["resource"] for operation in pending if operation.get("type") == "creating"])
    if pending:
        say(f"  it left {len(pending)} unfinished operations: {len(found)} of their resources exist and are adopted")
    return found


def made_and_lost(engine: Engine, known: Sequence[dict[str, Any]], say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Resources that the program created at Google and that are missing from the `known` ones."""
    lost = existing(engine, wanted_at_google(engine, say))
    urns, foreign = {resource["urn"] for resource in known}, googles_own([*known, *lost])
    lost = [resource for resource in lost if resource["urn"] not in urns and resource["id"] not in foreign]
    if lost:
        names = ", ".join(name_of(resource["urn"]) for resource in lost)
        say(f"  created by an interrupted run, now adopted: {names}")
    return lost


def without_lost_cluster(
    engine: Engine, resources: list[dict[str, Any]], say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Drops the objects in a cluster that was deleted at Google from the state; returns the remaining resources.

    The Kubernetes provider treats an unreachable cluster as deleted only when the variable is set that its own error message
    names, so a user with a real project finds it there.
    """
    if not _cluster_is_lost(engine, resources):
        return resources
    say("  the cluster was deleted outside the stack: its objects are dropped from the state")
    _refresh(engine, DELETE_UNREACHABLE)
    return engine.resources()


def _cluster_is_lost(engine: Engine, resources: Sequence[dict[str, Any]]) -> bool:
    """Whether the state has objects in a cluster but no existing cluster. A failed refresh may have dropped the cluster itself."""
    inside = any(resource["type"].startswith("kubernetes:") for resource in resources)
    clusters = [resource for resource in resources if resource["type"] == CLUSTER]
    return inside and not any(exists(engine, resource, resource["id"]) for resource in clusters)


def _refresh(engine: Engine, extra: Mapping[str, str] | None = None) -> None:
    engine.run("refresh", "--yes", "--skip-preview", quiet=True, extra=extra)


def existing(engine: Engine, creating: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The resources among those to be created that exist, as entries for the state. Anything at Google before the stack belongs
    to someone else: a stack that wants its name must fail."""
    before = {str(thing) for things in preexisting.remembered(engine.layout).values() for thing in things}
    ids = [(resource, resource_id(resource)) for resource in creating]
    return [
        adopted(resource, id_)
        for resource, id_ in ids
        if id_ is not None and _listed(id_) not in before and _was_created(engine, resource, id_)
    ]


def _was_created(engine: Engine, resource: dict[str, Any], id_: str) -> bool:
    """Like `exists`, but nothing can have been created through an API that was never enabled."""
    try:
        return exists(engine, resource, id_)
    except RehearsalError as error:
        if ": 403 " in str(error) and API_NEVER_ENABLED in str(error):
            return False
        raise


def _listed(id_: str) -> str:
    """An id as the rehearsal lists it: a path, or an account's address."""
    return id_.rsplit("/serviceAccounts/", 1)[-1]


def adopted(resource: dict[str, Any], id_: str) -> dict[str, Any]:
    """An entry for the state from the record of a creation. The refresh that follows reads the real properties."""
    outputs = {name: value for name, value in resource.get("inputs", {}).items() if name != REMOVES_POOL}
    return {**resource, "id": id_, "custom": True, "outputs": outputs}


def googles_own(resources: Iterable[dict[str, Any]]) -> set[str]:
    """The ids of default pools that Google created with a cluster and the provider has not removed yet. A pool of that name in the
    program is a different one, still to be created."""
    clusters = [resource for resource in resources if resource["type"] == CLUSTER]
    undone = [c for c in clusters if c["inputs"].get(REMOVES_POOL) and not c["outputs"].get(REMOVES_POOL)]
    return {f"{cluster['id']}/nodePools/default-pool" for cluster in undone}


def wanted_at_google(engine: Engine, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """What the next `up` would create at Google, in order, without inputs that are still unknown.

    A failed preview counts as far as it got: only requests to the cluster can fail in it, because its controllers may not be
    ready, and queues and jobs come after everything at Google.
    """
    previewed = engine.run("preview", "--json", quiet=True, check=False)
    try:
        steps = steps_of(json.loads(previewed.stdout))
    except ValueError:
        say(
            f"  not looking for resources of an interrupted run, because the preview failed: {previewed.stderr.strip()}"
        )
        return []
    created = [step for step in steps if step.operation == "create" and step.kind.startswith("gcp:")]
    return [{**step.state, "inputs": _known(step.inputs)} for step in created]


def _known(inputs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in inputs.items() if UNKNOWN not in json.dumps(value)}


def settle(engine: Engine) -> None:
    """Waits until Google has finished the killed engine's operations: only then is the list of resources final.

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
    """Whether an operation on a resource still runs: GKE shows it in the status, Compute Engine's are marked."""
    return thing.get("status") in MOVING or bool(thing.get("_busy"))


def resource_id(resource: dict[str, Any]) -> str | None:
    """The id that the provider gives a resource, from its inputs; None for kinds that are simply created again."""
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
    """Whether the object exists, according to the API that would have created it."""
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
