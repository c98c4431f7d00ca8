"""The place of a worker pod whose KubeRay does not number its pods itself: the lowest that is free."""

from __future__ import annotations

from collections.abc import Sequence

from rehearsal.gke.ray.webhook.shared import Object, Refused, chips_of


def free_place(siblings: Sequence[Object], hosts: int) -> tuple[int, int]:
    """(replica, host) for the next pod of a group with `hosts` hosts a replica. Raises Refused."""
    taken: dict[int, list[int]] = {}
    for pod in siblings:
        label = (pod["metadata"].get("labels") or {}).get("replicaIndex", "")
        if label and "deletionTimestamp" not in pod["metadata"]:
            taken.setdefault(int(label.rsplit("-", 1)[-1]), []).append(_host(pod))
    replica = next((r for r in sorted(taken) if len(taken[r]) < hosts), None)
    if replica is None:
        replica = next(r for r in range(len(taken) + 1) if r not in taken)
    used = taken.get(replica, [])
    if len(set(used)) != len(used):
        raise Refused("Identical TPU_WORKER_ID assigned to multiple TPU workers in slice")
    return replica, next(host for host in range(len(used) + 1) if host not in used)


def _host(pod: Object) -> int:
    asking = [container for container in pod["spec"]["containers"] if chips_of(container)]
    for container in asking:
        ids = [entry.get("value", "") for entry in container.get("env") or [] if entry["name"] == "TPU_WORKER_ID"]
        if ids and ids[-1].isdigit():
            return int(ids[-1]) // len(asking)
    raise Refused("existing TPU worker missing TPU_WORKER_ID")
