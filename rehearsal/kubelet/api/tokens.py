"""Tokens of service accounts for pods, asked for through TokenRequest and renewed in time."""

from __future__ import annotations

import datetime
import threading
import time
from dataclasses import dataclass
from typing import Any

from rehearsal.kubernetes.client import Client

RENEW_AT = 0.8
"""The part of its life after which a token is renewed (kubernetes.io: the kubelet does so at 80 % or 24 hours)."""
RENEW_AFTER_S = 24 * 3600.0


@dataclass(frozen=True)
class Held:
    text: str
    renew_at: float


def renewal(now: float, expires: float) -> float:
    """When to renew a token that was got `now`."""
    return now + min((expires - now) * RENEW_AT, RENEW_AFTER_S)


class Tokens:
    """All tokens that the pods of this agent hold. Safe for use from many threads."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.held: dict[tuple[str, str | None, int], Held] = {}
        self.lock = threading.Lock()

    def get(self, pod: dict[str, Any], audience: str | None, seconds: int) -> str:
        """A token bound to the pod. Raises ApiError."""
        metadata = pod["metadata"]
        wanted = (metadata["uid"], audience, seconds)
        with self.lock:
            held = self.held.get(wanted)
        if held is not None and time.time() < held.renew_at:
            return held.text
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        spec: dict[str, Any] = {"expirationSeconds": seconds, "boundObjectRef": bound}
        spec["audiences"] = [audience] if audience else []
        account = pod["spec"].get("serviceAccountName") or "default"
        answer = self.client.request(
            "POST",
            f"/api/v1/namespaces/{metadata['namespace']}/serviceaccounts/{account}/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec},
        )["status"]
        expires = datetime.datetime.fromisoformat(answer["expirationTimestamp"].replace("Z", "+00:00")).timestamp()
        with self.lock:
            self.held[wanted] = Held(answer["token"], renewal(time.time(), expires))
        return str(answer["token"])

    def next_renewal(self, uid: str) -> float | None:
        """When the first of a pod's tokens is due, as time.time() counts."""
        with self.lock:
            due = [held.renew_at for wanted, held in self.held.items() if wanted[0] == uid]
        return min(due) if due else None

    def forget(self, uid: str) -> None:
        with self.lock:
            self.held = {wanted: held for wanted, held in self.held.items() if wanted[0] != uid}
