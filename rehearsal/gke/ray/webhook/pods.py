"""What the webhook puts into a Ray worker pod that asks for TPUs, as a JSON patch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rehearsal.gke.ray.webhook.affinity import with_slice
from rehearsal.gke.ray.webhook.places import free_place
from rehearsal.gke.ray.webhook.shared import ACCELERATOR, TOPOLOGY, Object, Refused, chips, chips_of, hosts

PROCESS_PORT, MEGASCALE_PORT, DEVICE_PLUGIN_PORT = 8471, 8081, 2112
REPLICA_INDEX, HOST_INDEX = "ray.io/worker-group-replica-index", "ray.io/replica-host-index"
LEGACY_REPLICA = "replicaIndex"
MOST_NAME = 50


@dataclass(frozen=True)
class Place:
    """A pod's place: worker `host` of `hosts` in replica `replica` of a group; `legacy` when the webhook chose it itself."""

    cluster: str
    group: str
    replica: int
    host: int
    hosts: int
    legacy: bool

    @property
    def service(self) -> str:
        """The headless Service of the cluster's workers, cut as KubeRay cuts it (CheckName in controllers/ray/utils/util.go)."""
        name = f"{self.cluster}-headless"[-MOST_NAME:]
        return name if name[0].isalpha() else f"r{name[1:]}"

    def hostname(self, host: int) -> str:
        return f"{self.group}-{self.replica}-{host}"

    @property
    def addresses(self) -> list[str]:
        return [f"{self.hostname(host)}.{self.service}" for host in range(self.hosts)]


def patches(pod: Object, siblings: Callable[[str, str], list[Object]]) -> list[Object]:
    """The JSON patch for a new pod. `siblings(cluster, group)` gives the pods of its group that are there. Raises Refused."""
    containers = pod["spec"].get("containers") or []
    if not chips(containers):
        return []
    place = _place(pod, containers, siblings)
    made: list[Object] = []
    if place.legacy:
        made.append(_add(f"/metadata/labels/{LEGACY_REPLICA}", f"{place.group}-{place.replica}"))
    if place.hosts > 1:
        made.append(_add("/spec/hostname", place.hostname(place.host)))
        made.append(_add("/spec/subdomain", place.service))
        made.append(_add("/spec/affinity", with_slice(pod, place.cluster, f"{place.group}-{place.replica}")))
    asking = [number for number, container in enumerate(containers) if chips_of(container)]
    newest = (pod["spec"].get("nodeSelector") or {}).get(ACCELERATOR, "").startswith("tpu7x")
    for order, number in enumerate(asking):
        made += _environment(containers[number], number, place, order, len(asking), newest)
    return made


def _place(pod: Object, containers: Sequence[Object], siblings: Callable[[str, str], list[Object]]) -> Place:
    labels = pod["metadata"].get("labels") or {}
    cluster, group = labels.get("ray.io/cluster", ""), labels.get("ray.io/group", "")
    if not cluster:
        raise Refused("Ray Pod created by KubeRay missing RayCluster label")
    if not group:
        raise Refused("Ray Pod created by KubeRay missing Group label")
    topology = (pod["spec"].get("nodeSelector") or {}).get(TOPOLOGY, "")
    if not topology:
        raise Refused("Ray Pod created by KubeRay missing TPU topology nodeSelector")
    count = hosts(topology, chips(containers))
    if REPLICA_INDEX in labels and HOST_INDEX in labels:
        return Place(cluster, group, int(labels[REPLICA_INDEX]), int(labels[HOST_INDEX]), count, legacy=False)
    replica, host = free_place(siblings(cluster, group), count)
    return Place(cluster, group, replica, host, count, legacy=True)


def _environment(
    container: Object, number: int, place: Place, order: int, processes: int, newest: bool
) -> list[Object]:
    present = {entry["name"]: entry for entry in container.get("env") or []}
    added: list[Object] = []

    def stated(name: str) -> str:
        return str(present.get(name, {}).get("value", ""))

    def add(name: str, value: str) -> None:
        if not stated(name):
            added.append({"name": name, "value": value})

    if "MEGASCALE_NUM_SLICES" in present:
        first = f"{place.group}-0-0.{place.service}"
        add("MEGASCALE_SLICE_ID", str(place.replica))
        add("MEGASCALE_COORDINATOR_ADDRESS", f"{first}:{MEGASCALE_PORT}" if newest else first)
        add("MEGASCALE_PORT", str(MEGASCALE_PORT + order if newest else MEGASCALE_PORT))
    if place.hosts > 1:
        if stated("TPU_WORKER_HOSTNAMES") in ("", "localhost"):
            added.append({"name": "TPU_WORKER_HOSTNAMES", "value": ",".join(place.addresses)})
        if newest:
            added += _processes(place, processes, stated("TPU_PROCESS_ADDRESSES"))
            add("TPU_PROCESS_PORT", str(PROCESS_PORT + order))
    worker = str(place.host * processes + order if newest else place.host)
    if stated("TPU_WORKER_ID") == "" or (stated("TPU_WORKER_ID") == str(order) and worker != str(order)):
        added.append({"name": "TPU_WORKER_ID", "value": worker})
    add("TPU_NAME", f"{place.group}-{place.replica}")
    if "TPU_DEVICE_PLUGIN_HOST_IP" not in present:
        source = {"fieldRef": {"fieldPath": "status.hostIP"}}
        added.append({"name": "TPU_DEVICE_PLUGIN_HOST_IP", "valueFrom": source})
    add("TPU_DEVICE_PLUGIN_ADDR", f"$(TPU_DEVICE_PLUGIN_HOST_IP):{DEVICE_PLUGIN_PORT}")
    path = f"/spec/containers/{number}/env"
    return [_add(f"{path}/-", entry) for entry in added] if present else [_add(path, added)]


def _processes(place: Place, processes: int, stated: str) -> list[Object]:
    """From Ironwood on each container with chips is a process of its own, with an address of its own."""
    if stated and "localhost" not in stated:
        return []
    every = [f"{address}:{PROCESS_PORT + n}" for address in place.addresses for n in range(processes)]
    return [{"name": "TPU_PROCESS_ADDRESSES", "value": ",".join(every)}]


def _add(path: str, value: object) -> Object:
    return {"op": "add", "path": path, "value": value}
