"""What clusters and pools share: names, locks, and waiting until GKE rests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rehearsal.gcp_provider.errors import GoogleError, OperationError, ProviderError
from rehearsal.gcp_provider.google.operations import await_container
from rehearsal.gcp_provider.google.rest import pauses, while_busy
from rehearsal.gcp_provider.terraform.kind import Job, Values

READY = frozenset({"RUNNING"})
BROKEN = frozenset({"RUNNING_WITH_ERROR", "ERROR", "DEGRADED"})


@dataclass(frozen=True)
class ClusterName:
    project: str
    location: str
    name: str

    @property
    def parent(self) -> str:
        return f"projects/{self.project}/locations/{self.location}"

    @property
    def path(self) -> str:
        return f"{self.parent}/clusters/{self.name}"

    @property
    def lock(self) -> str:
        return f"google-container-cluster/{self.project}/{self.location}/{self.name}"


@dataclass(frozen=True)
class ClusterCall:
    """One call that changes a cluster or a pool. `target` is what follows its path: `:setSize`, or nothing."""

    verb: str
    target: str
    body: dict[str, Any]
    activity: str


def cluster_of_path(path: str) -> ClusterName:
    parts = path.split("/")
    return ClusterName(parts[1], parts[3], parts[5])


def wait(job: Job, cluster: ClusterName, operation: dict[str, Any], activity: str) -> None:
    await_container(job.rest, operation, cluster.parent, activity, job.patience)


def resume(job: Job, cluster: ClusterName, known: Values) -> None:
    """Waits for the operation of a creation that was cancelled, which the state has since then, as the real provider's read
    does. How it went, the status tells."""
    name = known.get("operation")
    if not name:
        return
    try:
        wait(job, cluster, {"name": name}, "resuming what was cancelled")
    except OperationError:
        return
    except GoogleError as error:
        if not error.is_missing:
            raise


def change(job: Job, cluster: ClusterName, verb: str, path: str, body: Any, activity: str) -> None:
    """One call that changes something, repeated while the cluster is busy, and its operation."""
    operation = while_busy(lambda: job.rest.call("container", verb, path, body, job.patience), job.patience)
    wait(job, cluster, operation, activity)


@contextmanager
def cluster_locked(job: Job, cluster: ClusterName) -> Iterator[None]:
    with job.cloud.locks.alone(cluster.lock):
        yield


@contextmanager
def pool_locked(job: Job, cluster: ClusterName, pool: str) -> Iterator[None]:
    """Pools of one cluster are worked on side by side (a read lock on the cluster); each alone by itself."""
    with job.cloud.locks.shared(cluster.lock), job.cloud.locks.alone(f"{cluster.path}/nodePools/{pool}"):
        yield


def rest_state(job: Job, path: str, noun: str) -> dict[str, Any]:
    """Waits until a cluster or a pool is neither being made nor changed; gives it as it then is."""
    for pause in pauses():
        found = job.rest.call("container", "GET", path, patience=job.patience)
        status = found.get("status", "")
        if status in READY | BROKEN:
            return found
        if job.patience.over:
            name, message = path.rsplit("/", 1)[-1], found.get("statusMessage", "")
            raise ProviderError(f'{noun} "{name}" has state "{status}" with message "{message}"')
        job.patience.wait(pause)
    raise AssertionError("pauses never end")
