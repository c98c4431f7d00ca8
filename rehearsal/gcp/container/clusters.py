"""Clusters."""

from __future__ import annotations

import traceback
from pathlib import Path

from rehearsal.gcp.container import autopilot, defaults, names, pools
from rehearsal.gcp.container.operations import begin, refuse_if_busy
from rehearsal.gcp.container.versions import resolve
from rehearsal.gcp.core import Call, CloudState, Handler, Object, invalid, now, public
from rehearsal.gcp.core.state import Task
from rehearsal.gcp.machines import REGIONS, region_of, zones
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gcp.serviceusage import require_api

CREATE_S, DELETE_S = 300.0, 120.0
DEFAULT_POOL = "default-pool"


def shown(world: CloudState, cluster: Object) -> Object:
    """A cluster as GKE answers it: with its pools, and with what older clients read of the first pool."""
    found = pools.of(world, cluster["_name"])
    visible = public(cluster)
    if found:
        visible["nodePools"] = [pools.shown(pool) for pool in found]
        visible["instanceGroupUrls"] = [url for pool in found for url in pool["instanceGroupUrls"]]
        visible["nodeConfig"] = found[0]["config"]
    visible["currentNodeCount"] = sum(len(pool_nodes.of(pool)) for pool in found)
    return visible


def _create(call: Call) -> Object:
    project, location = names.project(call), names.location(call)
    require_api(call.world, project, "container.googleapis.com")
    stated = call.body.get("cluster", {})
    names.check_name("cluster", stated.get("name", ""))
    name = f"{names.parent(call)}/clusters/{stated['name']}"
    with call.world.store.lock:
        if call.world.store.get("clusters", name):
            raise names.conflict(name)
        cluster = _prepare(call, stated, name, location)
        first = _first_pools(call, stated, cluster, name)
        call.world.store.put("clusters", name, cluster)
        call.world.store.delete("census", name)
        for pool in first:
            pools.save(call.world, pool["_name"], pool)
        return begin(call, "CREATE_CLUSTER", name, CREATE_S, "cluster-create", {"name": name, "method": call.method})


def _prepare(call: Call, stated: Object, name: str, location: str) -> Object:
    region = region_of(location)
    if region not in REGIONS or (location != region and location not in zones(region)):
        raise invalid(f'Location "{location}" does not exist.')
    chosen = stated.get("locations") or ([location] if location != region else zones(region)[:3])
    wrong = [zone for zone in chosen if zone not in zones(region)]
    if wrong:
        raise invalid(f'Invalid value for field "cluster.locations": zone "{wrong[0]}" is not in region "{region}".')
    version = resolve(call.world, stated.get("initialClusterVersion", ""))
    cluster = defaults.cluster(stated, name, version, location, list(chosen), names.link(call, name))
    if autopilot.is_autopilot(stated):
        autopilot.check(stated, location)
        cluster = autopilot.completed(cluster, stated)
    _network_exists(call.world, cluster)
    return {**cluster, "createTime": now(), "_name": name}


def _network_exists(world: CloudState, cluster: Object) -> None:
    config = cluster["networkConfig"]
    project, network, subnetwork = config["network"].split("/")[1], config["network"], config["subnetwork"]
    require_api(world, project, "compute.googleapis.com")
    for path, kind in ((network, "networks"), (subnetwork, "subnetworks")):
        if not path.endswith("/default") and world.store.get(f"compute-{kind}", path) is None:
            raise invalid(f"The resource '{path}' was not found.")
    found = world.store.get("compute-subnetworks", subnetwork) or {}
    ranges = {r["rangeName"] for r in found.get("secondaryIpRanges", [])}
    for field in ("clusterSecondaryRangeName", "servicesSecondaryRangeName"):
        wanted = cluster["ipAllocationPolicy"].get(field)
        if wanted and wanted not in ranges:
            raise invalid(
                f'Pod secondary range "{wanted}" does not exist in subnetwork "{subnetwork.rsplit("/", 1)[-1]}".'
            )
        if wanted:
            block = next(r["ipCidrRange"] for r in found["secondaryIpRanges"] if r["rangeName"] == wanted)
            key, short = (
                ("clusterIpv4Cidr", "clusterIpv4CidrBlock")
                if field.startswith("cluster")
                else ("servicesIpv4Cidr", "servicesIpv4CidrBlock")
            )
            cluster["ipAllocationPolicy"] |= {key: block, short: block}
            cluster[key] = block


def _first_pools(call: Call, stated: Object, cluster: Object, name: str) -> list[Object]:
    if autopilot.is_autopilot(stated):
        return []
    wanted = stated.get("nodePools")
    if not wanted:
        if not stated.get("initialNodeCount"):
            raise invalid("Cluster.initial_node_count must be greater than zero.")
        wanted = [
            {
                "name": DEFAULT_POOL,
                "initialNodeCount": stated["initialNodeCount"],
                "config": stated.get("nodeConfig", {}),
            }
        ]
    made = []
    for pool in wanted:
        full = f"{name}/nodePools/{pool.get('name', '')}"
        made.append(pools.prepare(call.world, pool, cluster, full, names.link(call, full)))
    return made


def create_task(world: CloudState, args: Object) -> None:
    """Brings a cluster up with its first pools; a cluster that did not get there stays in ERROR, as Google leaves it."""
    try:
        bring_up(world, args["name"])
        for pool in pools.of(world, args["name"]):
            pools.create_task(world, {"name": pool["_name"], "method": args["method"]})
        world.settings.kubernetes.apply_addons(world, args["name"])
    except Exception as error:
        _set(world, args["name"], {"status": "ERROR", "statusMessage": str(error)})
        pools.give_up(world, args["name"])
        raise
    _set(world, args["name"], {"status": "RUNNING"})


def bring_up(world: CloudState, name: str) -> None:
    """Starts the cluster's control plane and records where it answers."""
    backend = world.settings.backend
    if backend is None:
        _set(
            world,
            name,
            {"endpoint": "172.16.0.2", "masterAuth": {"clientCertificateConfig": {}, "clusterCaCertificate": ""}},
        )
        return
    handle = backend.start(name)
    cluster = world.store.get("clusters", name) or {}
    if autopilot.is_autopilot(cluster):
        world.settings.kubernetes.enforce_autopilot(Path(handle.kubeconfig))
    auth = {**cluster.get("masterAuth", {}), "clusterCaCertificate": defaults.authority(handle.ca_pem)}
    private = {
        **cluster.get("privateClusterConfig", {}),
        "publicEndpoint": handle.address,
        "privateEndpoint": handle.address,
    }
    endpoints = defaults.merged(
        cluster.get("controlPlaneEndpointsConfig", {}),
        {"ipEndpointsConfig": {"publicEndpoint": handle.address, "privateEndpoint": handle.address}},
    )
    _set(world, name, {
        "endpoint": handle.address, "masterAuth": auth, "privateClusterConfig": private, "controlPlaneEndpointsConfig": endpoints,
        "_index": handle.index, "_kubeconfig": str(handle.kubeconfig),
    })  # fmt: skip


def _set(world: CloudState, name: str, fields: Object) -> None:
    with world.store.lock:
        cluster = world.store.get("clusters", name)
        if cluster is not None:
            world.store.put("clusters", name, {**cluster, **fields})


def reassert(world: CloudState) -> None:
    """After a restart of the server: every cluster that was up is up again before it says so."""
    for cluster in world.store.list("clusters"):
        before, name = cluster["status"], cluster["_name"]
        if before not in ("RUNNING", "RECONCILING", "STOPPING", "DEGRADED"):
            continue  # it was being created: that operation is taken up again
        _set(world, name, {"status": "RECONCILING"})
        try:
            bring_up(world, name)
            world.settings.kubernetes.apply_addons(world, name)
        except Exception as error:  # noqa: BLE001 one cluster that does not come up must not keep the others down
            traceback.print_exc()
            _set(world, name, {"status": "DEGRADED", "statusMessage": str(error)})
            continue
        _set(world, name, {"status": "STOPPING" if before == "STOPPING" else "RUNNING", "statusMessage": ""})


def _get(call: Call) -> Object:
    return shown(call.world, names.cluster(call))


def _list(call: Call) -> Object:
    base = f"projects/{names.project(call)}/locations/"
    prefix = base if names.location(call) == "-" else f"{base}{names.location(call)}/"
    require_api(call.world, names.project(call), "container.googleapis.com")
    found = [shown(call.world, cluster) for cluster in call.world.store.list("clusters", prefix)]
    return {"clusters": found} if found else {}


def _delete(call: Call) -> Object:
    name = names.cluster_name(call)
    with call.world.store.lock:
        names.cluster(call)
        refuse_if_busy(call.world, name)
        _set(call.world, name, {"status": "STOPPING"})
        return begin(call, "DELETE_CLUSTER", name, DELETE_S, "cluster-delete", {"name": name})


def delete_task(world: CloudState, args: Object) -> None:
    cluster = world.store.get("clusters", args["name"])
    if cluster is None:
        return
    world.store.put(
        "census", args["name"], {"cluster": args["name"], "left": world.settings.kubernetes.leftovers(cluster)}
    )
    for pool in pools.of(world, args["name"]):
        world.settings.kubernetes.remove_nodes(world, pool)
        world.store.delete("pools", pool["_name"])
    if world.settings.backend is not None:
        world.settings.backend.stop(args["name"])
    world.store.delete("clusters", args["name"])


_VERBS: dict[str, Handler] = {"create": _create, "get": _get, "list": _list, "delete": _delete}
HANDLERS: dict[str, Handler] = {
    f"container.projects.{style}.clusters.{verb}": handler
    for style in ("locations", "zones")
    for verb, handler in _VERBS.items()
}
TASKS: dict[str, Task] = {"cluster-create": create_task, "cluster-delete": delete_task}
