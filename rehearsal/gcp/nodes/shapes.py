"""A pool's nodes as GKE registers them: names, labels, taints and capacities. Pure functions of the pool and the cluster.

Labels and taints: cloud.google.com/kubernetes-engine/docs/concepts/tpus and .../how-to/tpus; what GKE reserves of a machine:
cloud.google.com/kubernetes-engine/docs/concepts/plan-node-sizes.
"""

from __future__ import annotations

import hashlib
from typing import Any

from rehearsal.gcp.core import Object, number
from rehearsal.gcp.machines import MACHINES, Machine, region_of
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gcp.nodes.pool_nodes import Member
from rehearsal.host.network import ClusterNetwork

_LETTERS = "0123456789bcdfghjklmnpqrstvwxz"
PODS = 110
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}
"""A taint's effect in GKE's API, and in Kubernetes."""
LABELS_APPLIED = "node.gke.io/last-applied-node-labels"
TAINTS_APPLIED = "node.gke.io/last-applied-node-taints"
REQUEST = "autoscaling.gke.io/provisioning-request"
"""The label of a node that came for a ProvisioningRequest: the name of its resize request."""


def node_names(pool: Object) -> list[tuple[str, str]]:
    """(name, zone) of each node that the pool should have."""
    return [(name, member.zone) for name, member in named(pool).items()]


def named(pool: Object) -> dict[str, Member]:
    """The pool's members by the names of their nodes."""
    cluster = pool["_cluster"].rsplit("/", 1)[-1]
    digest = hashlib.sha256(pool["_name"].encode()).hexdigest()[:8]
    tpu = bool(MACHINES[pool["config"]["machineType"]].chips)
    brand = "gk3" if pool.get("_autopilot") else "gke"
    stem = (
        f"gke-tpu-{digest}" if tpu else f"{brand}-{cluster[:13].rstrip('-')}-{pool['name'][:14].rstrip('-')}-{digest}"
    )
    return {f"{stem}-{_suffix(pool['_name'], member.zone, member.n)}": member for member in pool_nodes.of(pool)}


def _suffix(pool: str, zone: str, n: int) -> str:
    value = int(hashlib.sha256(f"{pool} {zone} {n}".encode()).hexdigest(), 16)
    return "".join(_LETTERS[value // len(_LETTERS) ** k % len(_LETTERS)] for k in range(4))


def provisioning(pool: Object) -> str:
    config = pool["config"]
    if config.get("flexStart"):
        return "flex-start"
    if config.get("spot"):
        return "spot"
    return "preemptible" if config.get("preemptible") else "standard"


def labels(pool: Object, node: str, zone: str) -> dict[str, str]:
    config = pool["config"]
    machine = MACHINES[config["machineType"]]
    found = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/instance-type": machine.name,
        "beta.kubernetes.io/os": "linux",
        "cloud.google.com/gke-boot-disk": config["diskType"],
        "cloud.google.com/gke-container-runtime": "containerd",
        "cloud.google.com/gke-cpu-scaling-level": str(machine.cpus),
        "cloud.google.com/gke-max-pods-per-node": str(PODS),
        "cloud.google.com/gke-memory-gb-scaling-level": str(machine.memory_gb),
        "cloud.google.com/gke-nodepool": pool["name"],
        "cloud.google.com/gke-os-distribution": "cos",
        "cloud.google.com/gke-provisioning": provisioning(pool),
        "cloud.google.com/gke-stack-type": "IPV4",
        "cloud.google.com/machine-family": machine.family,
        "cloud.google.com/private-node": str(bool(pool["networkConfig"].get("enablePrivateNodes"))).lower(),
        "failure-domain.beta.kubernetes.io/region": region_of(zone),
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": node,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": region_of(zone),
        "topology.kubernetes.io/zone": zone,
    }
    member = named(pool).get(node)
    request = {REQUEST: member.request} if member is not None and member.request else {}
    return {**found, **_tpu_labels(pool, machine), **_capacity_labels(pool), **request, **config.get("labels", {})}


def _tpu_labels(pool: Object, machine: Machine) -> dict[str, str]:
    if not machine.chips:
        return {}
    topology = pool.get("placementPolicy", {}).get("tpuTopology") or machine.single_host
    return {
        "cloud.google.com/gke-tpu-accelerator": machine.accelerator,
        "cloud.google.com/gke-tpu-topology": topology,
        "cloud.google.com/gke-accelerator-count": str(machine.chips),
    }


def _capacity_labels(pool: Object) -> dict[str, str]:
    config, found = pool["config"], {}
    if config.get("flexStart"):
        found["cloud.google.com/gke-flex-start"] = "true"
    if config.get("spot"):
        found["cloud.google.com/gke-spot"] = "true"
    if config.get("maxRunDuration"):
        found["cloud.google.com/gke-max-run-duration-seconds"] = config["maxRunDuration"].rstrip("s")
    affinity = config.get("reservationAffinity", {})
    if affinity.get("consumeReservationType") == "SPECIFIC_RESERVATION":
        found["cloud.google.com/reservation-name"] = affinity["values"][0].rsplit("/", 1)[-1]
    policy = pool.get("placementPolicy", {}).get("policyName")
    if policy:
        found["cloud.google.com/placement-policy-name"] = policy.rsplit("/", 1)[-1]
    return found


def taints(pool: Object) -> list[dict[str, str]]:
    """The pool's own taints, and GKE's where the pool does not state the same: Google's cluster-toolkit states `google.com/tpu` on
    its TPU pools (modules/internal/tpu-definition), and a node cannot register with two taints of one key and effect."""
    found = [
        {"key": t["key"], "value": t.get("value", ""), "effect": EFFECTS[t["effect"]]}
        for t in pool["config"].get("taints", [])
    ]
    return [*found, *(taint for taint in _googles_taints(pool) if taint not in found)]


def _googles_taints(pool: Object) -> list[dict[str, str]]:
    """What GKE puts on the nodes of a pool by itself."""
    found = []
    if MACHINES[pool["config"]["machineType"]].chips:
        found.append({"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"})
    if pool.get("queuedProvisioning", {}).get("enabled"):
        found.append({"key": "cloud.google.com/gke-queued", "value": "true", "effect": "NoSchedule"})
    return found


def applied(pool: Object) -> dict[str, str]:
    """The annotations in which GKE keeps what of a node's labels and taints came from its pool, to take it back when the pool changes."""
    own = pool["config"].get("labels", {})
    return {
        LABELS_APPLIED: ",".join(f"{key}={own[key]}" for key in sorted(own)),
        TAINTS_APPLIED: ",".join(sorted(f"{t['key']}={t.get('value', '')}:{t['effect']}" for t in taints(pool))),
    }


def capacity(pool: Object) -> tuple[dict[str, str], dict[str, str]]:
    """(capacity, allocatable): what the machine has, and what is left after GKE's reservations."""
    machine = MACHINES[pool["config"]["machineType"]]
    memory_ki, disk_gb = machine.memory_gb * 1024 * 1024, int(pool["config"]["diskSizeGb"])
    chips = {"google.com/tpu": str(machine.chips)} if machine.chips else {}
    fixed = {"pods": str(PODS), "hugepages-1Gi": "0", "hugepages-2Mi": "0", **chips}
    whole = {
        "cpu": str(machine.cpus),
        "memory": f"{memory_ki}Ki",
        "ephemeral-storage": f"{disk_gb * 1000 * 1000 * 95 // 97}Ki",
        **fixed,
    }
    left = {
        "cpu": f"{machine.cpus * 1000 - _reserved_cpu(machine.cpus)}m",
        "memory": f"{memory_ki - _reserved_memory_ki(machine.memory_gb) - 100 * 1024}Ki",
        "ephemeral-storage": str(disk_gb * 10**9 * 9 // 10 // 2),
        **fixed,
    }
    return whole, left


def _reserved_cpu(cores: int) -> int:
    """Millicores: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % of the rest."""
    return 60 + (10 if cores > 1 else 0) + 5 * max(0, min(cores, 4) - 2) + int(2.5 * max(0, cores - 4))


def _reserved_memory_ki(gb: int) -> int:
    """25 % of the first 4 GiB, 20 % of the next 4, 10 % of the next 8, 6 % up to 128, 2 % above."""
    bands = ((4, 25), (4, 20), (8, 10), (112, 6), (10**6, 2))
    left, reserved = gb, 0.0
    for size, percent in bands:
        reserved += min(left, size) * percent / 100
        left = max(0, left - size)
    return int(reserved * 1024 * 1024)


def node(
    pool: Object, name: str, zone: str, place: int, network: ClusterNetwork, version: str
) -> tuple[Object, Object]:
    """(Node object, its status) of the pool's node at `place` (1 to 254) in the cluster's address plan."""
    project = pool["_cluster"].split("/")[1]
    metadata: Object = {
        "name": name,
        "labels": labels(pool, name, zone),
        "annotations": {
            "container.googleapis.com/instance_id": number(name, 19),
            **applied(pool),
        },
    }
    cidr = f"10.{64 + network.index}.{place}.0/24"
    spec: Object = {
        "podCIDR": cidr,
        "podCIDRs": [cidr],
        "providerID": f"gce://{project}/{zone}/{name}",
        "taints": taints(pool),
    }
    whole, left = capacity(pool)
    status: Object = {
        "capacity": whole,
        "allocatable": left,
        "addresses": [
            {"type": "InternalIP", "address": f"10.{128 + network.index}.0.{place}"},
            {"type": "Hostname", "address": name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": network.kubelet_port}},
        "nodeInfo": _info(name, version),
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec}, status


def _info(name: str, version: str) -> dict[str, Any]:
    machine = hashlib.sha256(name.encode()).hexdigest()[:32]
    return {
        "architecture": "amd64", "operatingSystem": "linux", "osImage": "Container-Optimized OS from Google", "kernelVersion": "6.12.46+",
        "containerRuntimeVersion": "containerd://2.1.5", "kubeletVersion": f"v{version}", "kubeProxyVersion": f"v{version}",
        "machineID": machine, "systemUUID": f"{machine[:8]}-{machine[8:12]}-{machine[12:16]}-{machine[16:20]}-{machine[20:]}",
        "bootID": f"{machine[20:28]}-{machine[:4]}-{machine[4:8]}-{machine[8:12]}-{machine[12:24]}",
    }  # fmt: skip
