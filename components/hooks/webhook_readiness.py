"""What an API server's answer to a dry run means: go on, ask again, or give up. Pure, so that each case is a test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from components.hooks.kubernetes_api import Answer

_CALL_FAILED = re.compile(r'failed calling webhook "([^"]+)"')
_DENIED = re.compile(r'admission webhook "[^"]+" denied the request')


class Readiness(Enum):
    READY = "ready"
    RETRY = "retry"
    DENIED = "denied"


def readiness(answer: Answer) -> Readiness:
    """Only what passes by itself is asked again: no answer from a webhook, a kind that is not served yet, a busy
    server. What says that the object is wrong is final, since it would be as wrong in a minute."""
    if answer.status < 300:
        return Readiness.READY
    if answer.status == 409 and "already exists" in answer.message:
        # Admission comes before storage: the webhooks have let it through. An update, or an `up` that was killed.
        return Readiness.READY
    if _DENIED.search(answer.message):
        return Readiness.DENIED
    if _CALL_FAILED.search(answer.message):
        return Readiness.RETRY
    if answer.status == 404:
        return Readiness.DENIED if answer.message.startswith("namespaces ") else Readiness.RETRY
    return Readiness.RETRY if answer.status == 429 or answer.status >= 500 else Readiness.DENIED


def failing_webhook(message: str) -> str | None:
    """The name of the webhook that did not answer, from the API server's message."""
    match = _CALL_FAILED.search(message)
    return match.group(1) if match is not None else None


def why_not_ready(deployment: str, pods: Sequence[Mapping[str, Any]]) -> str:
    """One sentence on the state of a controller's pods, the newest that is not ready. In a rolling update the pods of the version
    before stay ready as long as those of the next one do not get so: what is wrong is then said of these."""
    own = [pod for pod in pods if str(pod["metadata"]["name"]).startswith(f"{deployment}-")]
    if not own:
        return f"{deployment} has no ready endpoint: it has no pod"
    waiting = [pod for pod in own if not _is_ready(pod)]
    newest = max(own, key=_created)
    if len(waiting) == len(own):
        return f"{deployment} has no ready endpoint: pod {_state(max(waiting, key=_created))}"
    unready = [pod for pod in waiting if _replica_set(pod) == _replica_set(newest)]
    text = f"{deployment} has a ready pod, but the API server does not reach it"
    return f"{text}; its newest pod is not ready: {_state(max(unready, key=_created))}" if unready else text


def _created(pod: Mapping[str, Any]) -> str:
    """RFC 3339 in UTC, so that the order of the texts is that of the times."""
    return str(pod["metadata"].get("creationTimestamp", ""))


def _replica_set(pod: Mapping[str, Any]) -> str:
    """The Deployment's controller labels the pods of each ReplicaSet with a digest of their template."""
    return str(pod["metadata"].get("labels", {}).get("pod-template-hash", ""))


def _is_ready(pod: Mapping[str, Any]) -> bool:
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in _conditions(pod))


def _conditions(pod: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    conditions = pod.get("status", {}).get("conditions")
    return conditions if conditions is not None else []


def _state(pod: Mapping[str, Any]) -> str:
    """`NAME is Pending because 0/2 nodes are available: ...`"""
    status = pod.get("status", {})
    start = f"{pod['metadata']['name']} is {status.get('phase', 'Unknown')}"
    for container in status.get("containerStatuses") or []:
        state = container.get("state", {})
        if "waiting" in state:
            reason = state["waiting"].get("message") or state["waiting"].get("reason")
            return f"{start} because container {container['name']} waits: {reason}{_last_end(container)}"
        if "terminated" in state:
            code = state["terminated"].get("exitCode")
            return f"{start} because container {container['name']} ended with exit code {code}"
    failed = [entry for entry in _conditions(pod) if entry["status"] == "False" and entry.get("message")]
    return f"{start} because {failed[0]['message']}" if failed else start


def _last_end(container: Mapping[str, Any]) -> str:
    """How the run before ended, with the last line that it left, where Kubernetes keeps one (terminationMessagePolicy)."""
    ended = container.get("lastState", {}).get("terminated")
    if ended is None:
        return ""
    lines = str(ended.get("message") or "").strip().splitlines()
    said = f" and said: {lines[-1]}" if lines else ""
    return f"; it last ended with exit code {ended.get('exitCode')}{said}"
