"""The part of Ray's dashboard that clients of its Jobs API call, in the shapes of ray/dashboard/modules/job/job_head.py."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rehearsal.gke.ray.simulator.jobs import DuplicateJob, Job, Jobs, UnfinishedJob

API_VERSION = "4"
"""The version of the Jobs API (ray/dashboard/modules/version.py)."""


class Dashboard:
    """One head's dashboard; `ray_version` is the version that its image's tag names."""

    def __init__(self, jobs: Jobs, ray_version: str, session: str) -> None:
        self.jobs, self.ray_version, self.session = jobs, ray_version, session

    def app(self) -> Starlette:
        one = "/api/jobs/{name}"
        return Starlette(
            routes=[
                Route("/api/jobs/", self._list),
                Route("/api/jobs/", self._submit, methods=["POST"]),
                Route(one, self._show),
                Route(one, self._delete, methods=["DELETE"]),
                Route(f"{one}/stop", self._stop, methods=["POST"]),
                Route(f"{one}/logs", self._logs),
                Route("/api/version", self._version),
                Route("/api/gcs_healthz", _healthy),
                Route("/api/local_raylet_healthz", _healthy),
            ]
        )

    def _find(self, request: Request) -> Job | Response:
        name = request.path_params["name"]
        found = self.jobs.get(name)
        return found if found is not None else PlainTextResponse(f"Job {name} does not exist", 404)

    def _list(self, request: Request) -> Response:
        return JSONResponse([job.details() for job in self.jobs.all()])

    async def _submit(self, request: Request) -> Response:
        try:
            wanted: Any = await request.json()
            if not isinstance(wanted, dict) or not isinstance(wanted.get("entrypoint"), str):
                raise TypeError("a job needs an entrypoint")
        except (TypeError, ValueError) as error:
            return PlainTextResponse(f"{type(error).__name__}: {error}", 400)
        try:
            name = self.jobs.submit(wanted)
        except (
            DuplicateJob
        ) as error:  # the head asks an agent on a node to submit, and reports its refusal as its own failure
            return PlainTextResponse(f"RuntimeError: Request failed with status code 400: ValueError: {error}.", 500)
        return JSONResponse({"job_id": name, "submission_id": name})

    def _show(self, request: Request) -> Response:
        found = self._find(request)
        return JSONResponse(found.details()) if isinstance(found, Job) else found

    def _stop(self, request: Request) -> Response:
        found = self._find(request)
        if isinstance(found, Response):
            return found
        return JSONResponse({"stopped": self.jobs.stop(found.submission_id)})

    def _delete(self, request: Request) -> Response:
        found = self._find(request)
        if isinstance(found, Response):
            return found
        try:
            self.jobs.delete(found.submission_id)
        except UnfinishedJob as error:
            return PlainTextResponse(f"RuntimeError: Request failed with status code 500: RuntimeError: {error}.", 500)
        return JSONResponse({"deleted": True})

    def _logs(self, request: Request) -> Response:
        found = self._find(request)
        return JSONResponse({"logs": found.logs}) if isinstance(found, Job) else found

    def _version(self, request: Request) -> Response:
        return JSONResponse(
            {
                "version": API_VERSION,
                "ray_version": self.ray_version,
                "ray_commit": "{{RAY_COMMIT_SHA}}",
                "session_name": self.session,
            }
        )


def _healthy(request: Request) -> Response:
    return PlainTextResponse("success")
