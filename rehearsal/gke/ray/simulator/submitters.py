"""What submits a RayJob: it runs `ray job submit`, follows the job, and ends with it.

In K8sJobMode that is a pod of its own, whose last command, `ray job logs --follow`, ends with exit code 0 also when the job
failed: KubeRay asks the head how it ended. In SidecarMode it is a container in the head's pod, whose `ray job submit` ends with
exit code 1 when the job failed. (kuberay's controllers/ray/common/job.go, ray/dashboard/modules/job/cli.py.)
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rehearsal.gke.ray.simulator.jobs import Job

Object = dict[str, Any]

SUBMISSION = "RAY_JOB_SUBMISSION_ID"
ADDRESS = "RAY_DASHBOARD_ADDRESS"
NO_HEAD_S = 60.0
"""How long a submitter tries to reach its head before it gives up."""


@dataclass(frozen=True)
class Submission:
    """What a pod's `container` submits, and to which Service (namespace, name); to the head in its own pod without one."""

    container: str
    submission_id: str
    service: tuple[str, str] | None
    request: Object

    def exit_code(self, job: Job | None) -> int:
        """How it ends when its job has ended; None: it did not reach a head."""
        return 1 if job is None or (self.service is None and job.status == "FAILED") else 0


def submits(pod: Object) -> bool:
    return any(entry["name"] == SUBMISSION for c in pod["spec"]["containers"] for entry in c.get("env") or [])


def submission(pod: Object) -> Submission | None:
    """What a pod submits; None when it is no submitter."""
    for container in pod["spec"]["containers"]:
        env = {entry["name"]: entry.get("value", "") for entry in container.get("env") or []}
        if env.get(SUBMISSION) and ADDRESS in env:
            words = _words([*(container.get("command") or []), *(container.get("args") or [])])
            request = {**words, "submission_id": env[SUBMISSION]}
            return Submission(container["name"], env[SUBMISSION], _service(env[ADDRESS]), request)
    return None


def _service(address: str) -> tuple[str, str] | None:
    """(namespace, name) of an address `<name>.<namespace>.svc...`; none in a head's pod, made before its Service is known."""
    if not address:
        return None
    name, namespace = address.removeprefix("http://").split(":")[0].split(".")[:2]
    return namespace, name


def _words(command: list[str]) -> Object:
    """The request that a command line makes; a command of the user's own is taken as the job's entrypoint."""
    line = command[-1] if command else ""
    try:
        words = shlex.split(line)
        start = words.index("submit")
        end = words.index("--", start)
    except ValueError:
        return {"entrypoint": line}
    options = dict(zip(words[start:end], words[start + 1 : end], strict=False))
    stated: Object = {"entrypoint": line.split(" -- ", 1)[1].split(" ; fi ;", 1)[0].removesuffix(" ;")}
    for flag, field in (("--runtime-env-json", "runtime_env"), ("--metadata-json", "metadata")):
        if flag in options:
            stated[field] = json.loads(options[flag])
    return stated


def seconds(pod: Object) -> float:
    """For how long the pod's containers have run."""
    since = pod["status"].get("startTime") or pod["metadata"]["creationTimestamp"]
    return (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()


def running(pod: Object, container: str) -> bool:
    statuses = {status["name"]: status for status in pod["status"].get("containerStatuses") or []}
    return "running" in statuses.get(container, {}).get("state", {})


def ended(pod: Object, container: str, code: int) -> Object:
    """What makes a pod's status that of one whose container has ended with that exit code, and the pod with its last one."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    reason = "Error" if code else "Completed"
    statuses = []
    for status in pod["status"].get("containerStatuses") or []:
        since = status.get("state", {}).get("running", {}).get("startedAt", at)
        end = {"exitCode": code, "reason": reason, "startedAt": since, "finishedAt": at}
        changed = {"state": {"terminated": end}, "ready": False, "started": False}
        statuses.append({**status, **changed} if status["name"] == container else status)
    last = len(statuses) == 1
    why = ("PodFailed" if code else "PodCompleted") if last else "ContainersNotReady"
    kinds = ("ContainersReady", "Ready")
    kept = [c for c in pod["status"].get("conditions") or [] if c["type"] not in kinds]
    conditions = [{"type": kind, "status": "False", "reason": why, "lastTransitionTime": at} for kind in kinds]
    phase = ("Failed" if code else "Succeeded") if last else "Running"
    return {"phase": phase, "conditions": [*kept, *conditions], "containerStatuses": statuses}
