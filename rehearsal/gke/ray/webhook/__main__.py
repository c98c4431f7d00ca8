"""`python -m rehearsal.gke.ray.webhook`: answers the admission reviews of one cluster over HTTPS."""

from __future__ import annotations

import argparse
import base64
import json
import threading
from collections.abc import Callable
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rehearsal.gke.ray.webhook import clusters, pods
from rehearsal.gke.ray.webhook.shared import Object, Refused
from rehearsal.kubernetes.kubeapi import KubeApi


class Webhook:
    """One review of a pod at a time, so that no two pods get the same place."""

    def __init__(self, api: KubeApi) -> None:
        self.api, self._lock = api, threading.Lock()

    def app(self) -> Starlette:
        mutate = _review("Pod", self._mutate, "Failed to mutate Pod")
        validate = _review("RayCluster", _validate, "Failed to validate RayCluster")
        return Starlette(
            routes=[
                Route("/", lambda request: PlainTextResponse("kuberay-tpu-webhook")),
                Route("/mutate", mutate, methods=["POST"]),
                Route("/validate", validate, methods=["POST"]),
            ]
        )

    def _mutate(self, request: Object) -> Object:
        namespace = request["namespace"]

        def siblings(cluster: str, group: str) -> list[Object]:
            selector = f"ray.io/cluster={cluster},ray.io/group={group}"
            return self.api.list(f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector)

        with self._lock:
            made = pods.patches(request["object"], siblings)
        if not made:
            return {"allowed": True}
        return {
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": base64.b64encode(json.dumps(made).encode()).decode(),
        }


def _validate(request: Object) -> Object:
    why = clusters.refusal(request["object"])
    return {"allowed": not why, "status": {"status": "Failure" if why else "Success", "message": why}}


def _review(kind: str, answer: Callable[[Object], Object], failed: str) -> Callable[[Request], object]:
    """The handler of one kind of AdmissionReview."""

    async def handle(http: Request) -> Response:
        review = await http.json()
        request = review.get("request") or {}
        if (request.get("kind") or {}).get("kind") != kind:
            return PlainTextResponse("Invalid Kind\n", 400)
        try:
            made = await run_in_threadpool(answer, request)
        except Refused as error:
            print(f"{failed}: {error}", flush=True)
            return PlainTextResponse(f"{failed}\n", 403)
        return JSONResponse({**review, "response": {"uid": request["uid"], **made}})

    return handle


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearsal.gke.ray.webhook", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--address", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cert", required=True)
    parser.add_argument("--key", required=True)
    options = parser.parse_args()
    app = Webhook(KubeApi(options.kubeconfig)).app()
    uvicorn.run(
        app, host=options.address, port=options.port, log_level="warning", access_log=False, lifespan="off",
        ssl_certfile=options.cert, ssl_keyfile=options.key,
    )  # fmt: skip


if __name__ == "__main__":
    main()
