"""The pods by which KubeRay submits a RayJob in K8sJobMode: each runs `ray job submit`, follows the job, and ends with it.

Their command is built by BuildJobSubmitCommand of kuberay's controllers/ray/common/job.go. Its last part, `ray job logs
--follow`, ends with exit code 0 also when the job failed (ray/dashboard/modules/job/cli.py): KubeRay asks the head how it ended.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Object = dict[str, Any]

SUBMISSION = "RAY_JOB_SUBMISSION_ID"
ADDRESS = "RAY_DASHBOARD_ADDRESS"
NO_HEAD_S = 60.0
"""How long a submitter tries to reach its head before it gives up."""


@dataclass(frozen=True)
class Submission:
    """What a submitter submits, and to which Service (namespace, name)."""

    submission_id: str
    service: tuple[str, str]
    request: Object


def submission(pod: Object) -> Submission | None:
    """What a pod submits; None when it is no submitter."""
    for container in pod["spec"]["containers"]:
        env = {entry["name"]: entry.get("value", "") for entry in container.get("env") or []}
        if env.get(SUBMISSION) and env.get(ADDRESS):
            name, namespace = env[ADDRESS].removeprefix("http://").split(":")[0].split(".")[:2]
            words = _words([*(container.get("command") or []), *(container.get("args") or [])])
            return Submission(env[SUBMISSION], (namespace, name), {**words, "submission_id": env[SUBMISSION]})
    return None


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
    stated: Object = {"entrypoint": line.split(" -- ", 1)[1].split(" ; fi ;", 1)[0]}
    for flag, field in (("--runtime-env-json", "runtime_env"), ("--metadata-json", "metadata")):
        if flag in options:
            stated[field] = json.loads(options[flag])
    return stated


def seconds(pod: Object) -> float:
    """For how long the pod's containers have run."""
    since = pod["status"].get("startTime") or pod["metadata"]["creationTimestamp"]
    return (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds()


def ended(pod: Object, code: int) -> Object:
    """The status of a submitter's pod that ends with that exit code."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    reason = "Error" if code else "Completed"
    running = {s["name"]: s.get("state", {}).get("running", {}) for s in pod["status"].get("containerStatuses") or []}
    statuses = [
        {
            "name": container["name"], "image": container["image"], "imageID": "", "ready": False, "started": False, "restartCount": 0,
            "state": {"terminated": {
                "exitCode": code, "reason": reason, "finishedAt": at,
                "startedAt": running.get(container["name"], {}).get("startedAt", at),
            }},
        }
        for container in pod["spec"]["containers"]
    ]  # fmt: skip
    conditions = [
        {"type": kind, "status": "False", "reason": "PodFailed" if code else "PodCompleted", "lastTransitionTime": at}
        for kind in ("ContainersReady", "Ready")
    ]
    kept = [c for c in pod["status"].get("conditions") or [] if c["type"] not in ("ContainersReady", "Ready")]
    phase = "Failed" if code else "Succeeded"
    return {"phase": phase, "conditions": [*kept, *conditions], "containerStatuses": statuses}
