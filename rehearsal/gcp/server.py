"""The HTTP side: every call is found in Google's descriptions, checked against them, answered by its API, and written down."""

from __future__ import annotations

import json
import threading
import time
import traceback
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rehearsal.gcp import capacity, projects, serviceusage
from rehearsal.gcp.core import ApiError, Call, CloudState, Object, Query, ServerSettings, Service, Store
from rehearsal.gcp.core.discovery import Method
from rehearsal.gcp.core.faults import FAULTS
from rehearsal.gcp.core.validation import check
from rehearsal.gcp.services import BY_NAME, HANDLERS, SERVICES, TASKS, find


class Server:
    """The APIs over one folder of state."""

    def __init__(self, state: Path, settings: ServerSettings) -> None:
        state.mkdir(parents=True, exist_ok=True)
        self.world = CloudState(Store(state / "objects"), settings, dict(TASKS))
        self._audit = state / "audit.jsonl"
        self._audit_lock = threading.Lock()
        self.ready = threading.Event()

    def start(self) -> None:
        """Restores what an earlier life left running, then keeps Kubernetes as the state says."""

        def work() -> None:
            for service in SERVICES:
                _resume(service, self.world)
            self.world.resume()
            self.ready.set()
            self.world.settings.kubernetes.keep(self.world)

        threading.Thread(target=work, daemon=True).start()

    def app(self) -> Starlette:
        admin = [
            Route("/_rehearsal/health", self._health),
            Route("/_rehearsal/faults", self._set_faults, methods=["GET", "PUT", "DELETE"]),
            Route("/_rehearsal/capacity", self._set_capacity, methods=["GET", "PUT", "DELETE"]),
            Route("/_rehearsal/audit", self._show_audit),
            Route("/_rehearsal/state", self._state),
            Route("/_rehearsal/leftovers", self._leftovers),
        ]
        everything = Route("/{path:path}", self._serve, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])
        return Starlette(routes=[*admin, everything])

    # -- Google's calls -----------------------------------------------------------------------------------------------

    async def _serve(self, request: Request) -> Response:
        raw = await request.body()
        return await run_in_threadpool(self._answer, request, raw)

    def _answer(self, request: Request, raw: bytes) -> Response:
        started, body = time.time(), None
        path = unquote(request.url.path)
        query = Query(tuple(parse_qsl(request.url.query, keep_blank_values=True)))
        found = find(request.method, path)
        try:
            body = _decode(raw)
            answer, status = self._call(found, path, query, body), 200
        except ApiError as error:
            answer, status = error.body(), error.code
        except Exception as error:  # noqa: BLE001 a client must get Google's shape even of our own faults
            traceback.print_exc()
            answer, status = (
                ApiError(500, f"Internal error encountered: {error}", status="INTERNAL", reason="backendError").body(),
                500,
            )
        entry = {
            "time": started, "verb": request.method, "path": path, "query": query.grouped(), "method": found[0].id if found else "",
            "status": status, "body": body, "agent": request.headers.get("user-agent", ""),
        }  # fmt: skip
        with self._audit_lock, self._audit.open("a") as log:
            log.write(json.dumps(entry) + "\n")
        return JSONResponse(answer, status_code=status)

    def _call(self, found: tuple[Method, dict[str, str]] | None, path: str, query: Query, body: Any) -> Object:
        if found is None:
            raise ApiError(404, f"The requested URL {path} was not found on this server.")
        method, params = found[0], projects.by_id(self.world, found[1])
        handler = HANDLERS.get(method.id)
        if handler is None:
            raise ApiError(501, f"Method {method.id} is not supported by this rehearsal.")
        read = check(method, query, body)
        call = Call(method.api, method.id, params, query, read if isinstance(read, dict) else {}, self.world)
        name = _subject(call)
        if self.world.fault("unavailable", method.id, name):
            raise ApiError(503, "The service is currently unavailable.")
        service = BY_NAME[method.api.split(".")[0]]
        if service.must_be_enabled and call.project not in ("", "-"):
            serviceusage.require_api(self.world, call.project, service.host)
        return handler(call)

    # -- for those who rehearse ---------------------------------------------------------------------------------------

    def _health(self, request: Request) -> Response:
        return JSONResponse({"ready": self.ready.is_set()}, status_code=200 if self.ready.is_set() else 503)

    async def _set_faults(self, request: Request) -> Response:
        if request.method == "PUT":
            wrong = _wrong_faults(listed := _decode(await request.body()))
            if wrong:
                return JSONResponse(ApiError(400, wrong).body(), status_code=400)
            self.world.set_faults(listed)
        elif request.method == "DELETE":
            self.world.set_faults([])
        return JSONResponse(self.world.faults)

    async def _set_capacity(self, request: Request) -> Response:
        if request.method == "PUT":
            wrong = capacity.wrong(stated := _decode(await request.body()))
            if wrong:
                return JSONResponse(ApiError(400, wrong).body(), status_code=400)
            capacity.set_table(self.world, stated)
        elif request.method == "DELETE":
            capacity.set_table(self.world, {})
        return JSONResponse(capacity.table(self.world))

    def _show_audit(self, request: Request) -> Response:
        wanted = request.query_params.get("method", "")
        lines = self._audit.read_text().splitlines() if self._audit.exists() else []
        return JSONResponse([entry for line in lines if wanted in (entry := json.loads(line))["method"]])

    def _state(self, request: Request) -> Response:
        store = self.world.store
        kinds = [kind for service in SERVICES for kind in service.state]
        return JSONResponse({kind: {name: store.get(kind, name) for name in store.names(kind)} for kind in kinds})

    def _leftovers(self, request: Request) -> Response:
        """Everything that a destroyed platform should not leave: resources, bindings, and what was in a cluster at its deletion."""
        found: dict[str, list[str]] = {}
        for service in SERVICES:
            found |= {shown: self.world.store.names(kind) for shown, kind in service.resources.items()}
            found |= {row: count(self.world) for row, count in service.leftovers.items()}
        return JSONResponse(found)


def _resume(service: Service, state: CloudState) -> None:
    try:
        if service.resume is not None:
            service.resume(state)
    except Exception:  # noqa: BLE001 the server still answers; the status of the resources shows the failure
        traceback.print_exc()


def _wrong_faults(listed: Any) -> str:
    """What is wrong with a list of faults, or "": a fault that never fires would look like a platform that withstands it."""
    if not isinstance(listed, list):
        return "a JSON list of faults is wanted"
    for entry in listed:
        if not isinstance(entry, dict) or entry.get("fault") not in FAULTS:
            return f"each fault names one of {', '.join(FAULTS)}; this does not: {json.dumps(entry)}"
        method = entry.get("match", {}).get("method")
        if method is not None and method not in HANDLERS:
            return f"no API here has the method {method}"
        if not isinstance(entry.get("after_s", 0), int | float):
            return f"after_s is a number of seconds: {json.dumps(entry)}"
    return ""


def _decode(raw: bytes) -> Any:
    if not raw.strip():
        return None
    try:
        return json.loads(raw)
    except ValueError as error:
        raise ApiError(400, f"Invalid JSON payload received. {error}") from error


def _subject(call: Call) -> str:
    """The name that a call is about: the last one in its path, or of what its body would make."""
    for value in (call.body, *(v for v in call.body.values() if isinstance(v, dict))):
        if isinstance(value.get("name"), str):
            return str(value["name"]).rsplit("/", 1)[-1]
    return list(call.params.values())[-1] if call.params else ""
