"""Tells the API server what became of a pod. Every write names the pod's uid, so a successor of the same name is safe."""

from __future__ import annotations

from typing import Any

from rehearsal.kubelet.pods.status import View, build
from rehearsal.kubernetes.client import ApiError, Client
from rehearsal.kubernetes.time import stamp

MERGE = "application/strategic-merge-patch+json"
GONE = (404, 409)


class Reporter:
    """One pod's reports; what has been said already is not said again."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.said: dict[str, Any] | None = None

    def report(self, pod: dict[str, Any], view: View) -> bool:
        """Whether the status stands; False asks for another attempt."""
        status = build(pod, view, stamp())
        if _same(status, self.said):
            return True
        body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": replacing(status)}
        try:
            self.client.request("PATCH", f"{_path(pod)}/status", body, content_type=MERGE)
        except ApiError as error:
            if error.code in GONE:
                return True
            print(f"status of {pod['metadata']['name']}: {error}", flush=True)
            return False
        self.said = status
        return True

    def delete(self, pod: dict[str, Any]) -> bool:
        """Removes a pod that has ended from the API server. Whether it is gone or goes."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
        options |= {"preconditions": {"uid": pod["metadata"]["uid"]}}
        try:
            self.client.request("DELETE", _path(pod), options)
        except ApiError as error:
            return error.code in GONE
        return True


def replacing(status: dict[str, Any]) -> dict[str, Any]:
    """The status as a patch whose lists of addresses replace the old ones; merged, an earlier address would stay in them."""
    lists = {name: [*status[name], {"$patch": "replace"}] for name in ("podIPs", "hostIPs") if name in status}
    return status | lists


def _path(pod: dict[str, Any]) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _same(status: dict[str, Any], said: dict[str, Any] | None) -> bool:
    """Equal but for the times of conditions that did not change."""
    if said is None:
        return False
    plain = [{**s, "conditions": [{**c, "lastTransitionTime": None} for c in s["conditions"]]} for s in (status, said)]
    return plain[0] == plain[1]
