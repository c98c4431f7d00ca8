"""Reads the timeline's rows from the cluster, and remembers what the cluster forgets: a finished Ray job's pods and nodes
are gone, and a later `make up` must still say where it ran."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from operations.jobs import job_logs
from operations.jobs.expectations import expected_flavor
from operations.jobs.job_logs import LogSummary
from operations.jobs.timeline import (
    JobLine,
    Node,
    job_line,
    merged,
    nodes_of,
    request_of,
)
from operations.jobs.wait_reasons import free_chips, refusals_of, with_failure, with_room, with_scale_up
from operations.kubernetes import Cluster
from settings.catalogue.versions import KUEUE_API
from settings.plan.jobs import Job
from settings.plan.plan import Plan
from settings.plan.ray_jobs import RayJobPlan
from workloads.kinds import kind_of
from workloads.status import Object

PROVISIONING_API = "autoscaling.x-k8s.io/v1"
_SEEN = TypeAdapter(dict[str, JobLine])


@dataclass
class Watcher:
    """The rows of one cluster's jobs. `memory` is a file for what was seen, by the jobs' uids; None keeps it here only."""

    cluster: Cluster
    plan: Plan
    memory: Path | None = None
    _seen: dict[str, JobLine] = field(default_factory=dict)
    _listed: dict[str, list[Object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.memory is not None and self.memory.exists():
            try:
                self._seen = _SEEN.validate_json(self.memory.read_bytes())
            except ValidationError:
                self._seen = {}  # an older form, or cut off: what is still in the cluster is read again

    def lines(self) -> list[JobLine]:
        """The rows as the cluster is now, in the order of the plan. Raises client.ApiException and urllib3's errors."""
        self._listed = {}
        nodes = nodes_of(self.cluster.list("/api/v1/nodes"))
        queues = {(q.namespace, q.local_queue): self._free(q.cluster_queue) for q in self.plan.queues}
        found = [
            with_room(self._row(job, nodes), job.slices * job.shape.chips, queues[job.namespace, job.queue])
            for job in self.plan.jobs
        ]
        if self.memory is not None:
            self.memory.write_bytes(_SEEN.dump_json(self._seen))
        return found

    def _free(self, cluster_queue: str) -> dict[str, tuple[int, int]]:
        return free_chips(self.cluster.call("GET", f"/apis/{KUEUE_API}/clusterqueues/{cluster_queue}"))

    def _row(self, job: Job, nodes: dict[str, Node]) -> JobLine:
        kind = kind_of(job)
        collection = f"/apis/{job.kind.api_version}/namespaces/{job.namespace}/{job.kind.plural}"
        found = self.cluster.call("GET", f"{collection}/{job.name}")
        workload = self._workload(job.namespace, found["metadata"]["uid"])
        own = kind.pods(job, found)
        pods = self._pods(job.namespace, own)
        asked = self._requests(job.namespace, workload) if job.queued else []
        request = request_of(asked[-1]) if asked else None
        line = job_line(kind, found, workload, pods, nodes, request)
        line = with_failure(replace(line, refusals=refusals_of(asked)), found, pods)
        if any(not pod["spec"].get("nodeName") for pod in pods):
            line = with_scale_up(line, pods, self._failed_scale_ups(job.namespace))
        uid = found["metadata"]["uid"]
        if line.finished and (uid not in self._seen or not self._seen[uid].finished):
            line = replace(line, log_summary=self._from_logs(job, own, pods))
        if uid in self._seen:
            line = merged(self._seen[uid], line)
        elif isinstance(job, RayJobPlan):
            flavor = expected_flavor(self.plan, job)
            line = replace(line, expected=flavor.name if flavor is not None else "")
        self._seen[uid] = line
        return line

    def _from_logs(self, job: Job, own: str, pods: list[Object]) -> LogSummary | None:
        """What a job's programs have reported. `pods` are those of the selector `own`."""
        logs = kind_of(job).logs(job)
        reporting = pods if logs == own else self._pods(job.namespace, logs)
        return job_logs.read(self.cluster, job.namespace, [pod["metadata"]["name"] for pod in reporting])

    def _pods(self, namespace: str, selector: str) -> list[Object]:
        return self.cluster.list(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)

    def _workload(self, namespace: str, uid: str) -> Object | None:
        """A job's Workload; of an elastic job, which gets another with each change of its size, the newest."""
        own = self._owned(f"/apis/{KUEUE_API}/namespaces/{namespace}/workloads", uid)
        return own[-1] if own else None

    def _requests(self, namespace: str, workload: Object | None) -> list[Object]:
        """A job's ProvisioningRequests, oldest first: one a try."""
        if workload is None:
            return []
        requests = f"/apis/{PROVISIONING_API}/namespaces/{namespace}/provisioningrequests"
        return self._owned(requests, workload["metadata"]["uid"])

    def _failed_scale_ups(self, namespace: str) -> list[Object]:
        return self._list(f"/api/v1/namespaces/{namespace}/events", fieldSelector="reason=FailedScaleUp")

    def _owned(self, path: str, owner: str) -> list[Object]:
        """The objects of a collection that belong to `owner`, a uid, oldest first."""
        own = [o for o in self._list(path) if any(r["uid"] == owner for r in o["metadata"].get("ownerReferences", []))]
        return sorted(own, key=lambda o: str(o["metadata"]["creationTimestamp"]))

    def _list(self, path: str, **query: str) -> list[Object]:
        """One reading of a collection serves all jobs' rows."""
        if path not in self._listed:
            self._listed[path] = self.cluster.list(path, **query)
        return self._listed[path]
