"""The Service Usage API: which APIs a project has enabled, and the refusal that calls to the others meet."""

from __future__ import annotations

import time
from typing import Any

from rehearsal.gcp import projects
from rehearsal.gcp.core import (
    ApiError,
    Call,
    CloudState,
    Handler,
    Object,
    Service,
    failed_precondition,
    invalid,
    not_found,
    number,
    page,
    stamp,
)
from rehearsal.gcp.service_catalogue import ALWAYS_ON, TITLES, standing_on, with_needs

OPERATIONS = "serviceusage-operations"
SECONDS = 10.0
"""About what Google takes to enable an API."""
MOST_AT_ONCE = 20
"""So many APIs one batchEnable takes (the description of BatchEnableServicesRequest.serviceIds)."""
_TYPES = "type.googleapis.com/google.api.serviceusage.v1."


def enabled(world: CloudState, project: str) -> set[str]:
    """The APIs that are on in a project. Those being enabled count from the moment at which their operation is done."""
    saved = world.store.get("services", project) or {}
    since = saved.get("from", {})
    return {*ALWAYS_ON, *(api for api in saved.get("enabled", []) if since.get(api, 0.0) <= time.time())}


def require_api(world: CloudState, project: str, api: str) -> None:
    """Raises the refusal of an API that the project has not enabled."""
    project_id = projects.resolve(world, project)
    if project_id is None or api in enabled(world, project_id):
        return
    digits = number(project_id)
    url = f"https://console.developers.google.com/apis/api/{api}/overview?project={digits}"
    message = (
        f"{TITLES[api]} has not been used in project {digits} before or it is disabled. Enable it by visiting {url} then retry. "
        "If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry."
    )
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "SERVICE_DISABLED",
        "domain": "googleapis.com",
        "metadata": {"service": api, "consumer": f"projects/{digits}"},
    }
    raise ApiError(403, message, reason="accessNotConfigured", details=[info])


def _known(api: str) -> str:
    if api in TITLES:
        return api
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "SERVICE_CONFIG_NOT_FOUND_OR_PERMISSION_DENIED",
        "domain": "serviceusage.googleapis.com",
        "metadata": {"services": api},
    }
    raise ApiError(403, f"Not found or permission denied for service(s): {api}.", details=[info])


def _project(call: Call) -> str:
    wanted = call.params["v1Id1"]
    found = projects.resolve(call.world, wanted) if call.params["v1Id"] == "projects" else None
    if found is None:
        raise not_found(f"Project '{wanted}' not found or permission denied.")
    return found


def _service(project: str, api: str, on: bool) -> Object:
    parent = f"projects/{number(project)}"
    return {
        "name": f"{parent}/services/{api}",
        "config": {"name": api, "title": TITLES[api]},
        "state": "ENABLED" if on else "DISABLED",
        "parent": parent,
    }


# -- reading -----------------------------------------------------------------------------------------------------------


def _list(call: Call) -> Object:
    project, wanted = _project(call), call.query.get("filter", "")
    if wanted not in ("", "state:ENABLED", "state:DISABLED"):
        raise invalid(f"Invalid filter: {wanted}. The allowed filters are `state:ENABLED` and `state:DISABLED`.")
    on = enabled(call.world, project)
    rows = [_service(project, api, api in on) for api in sorted(TITLES)]
    rows = [row for row in rows if wanted in ("", f"state:{row['state']}")]
    return page(call, "services", rows, usual=50, most=200)  # the description of `pageSize`


def _get(call: Call) -> Object:
    project, api = _project(call), _known(call.params["servicesId"])
    return _service(project, api, api in enabled(call.world, project))


def _batch_get(call: Call) -> Object:
    project = _project(call)
    names = [name.rsplit("/", 1)[-1] for name in call.query.all("names")]
    on = enabled(call.world, project)
    return {"services": [_service(project, _known(name), name in on) for name in names]}


# -- changing ----------------------------------------------------------------------------------------------------------


def _enable(call: Call) -> Object:
    return _turn_on(call, [call.params["servicesId"]], "EnableServiceResponse")


def _batch_enable(call: Call) -> Object:
    apis = call.body.get("serviceIds", [])
    if not apis:
        raise invalid("At least one service must be specified.")
    if len(apis) > MOST_AT_ONCE:
        raise invalid(f"No more than {MOST_AT_ONCE} services can be enabled in one batch; {len(apis)} were given.")
    return _turn_on(call, apis, "BatchEnableServicesResponse")


def _turn_on(call: Call, apis: list[str], kind: str) -> Object:
    project = _project(call)
    wanted = {_known(api) for api in apis}
    ready = time.time() + _seconds(call, sorted(wanted)[0])
    with call.world.store.lock:
        on = enabled(call.world, project)
        fresh = with_needs(wanted) - on
        _save(call.world, project, on | fresh, dict.fromkeys(fresh, ready))
    services = [_service(project, api, True) for api in sorted(wanted)]
    body: Object = {"service": services[0]} if kind == "EnableServiceResponse" else {"services": services}
    return _operation(call, kind, body, ready if fresh else 0.0)


def _seconds(call: Call, api: str) -> float:
    return SECONDS * call.world.settings.time_scale * call.world.pace(call.method, api)


def _save(world: CloudState, project: str, on: set[str], since: dict[str, float]) -> None:
    """Writes what is on. What an earlier call is still enabling stays under way."""
    saved = world.store.get("services", project) or {}
    coming = {api: at for api, at in saved.get("from", {}).items() if at > time.time()}
    kept = {api for api in saved.get("enabled", []) if api in coming}
    row = {"enabled": sorted((on | kept) - set(ALWAYS_ON)), "from": {**since, **coming}}
    world.store.put("services", project, row)


def _disable(call: Call) -> Object:
    project, api = _project(call), _known(call.params["servicesId"])
    with call.world.store.lock:
        on = enabled(call.world, project)
        if api in ALWAYS_ON:
            raise failed_precondition(f"Service {api} cannot be disabled: this rehearsal keeps it on in every project.")
        under = standing_on(api, on)
        if under and not call.body.get("disableDependentServices", False):
            raise failed_precondition(
                f"The service {api} is depended on by the following active service(s): {','.join(sorted(under))}; "
                "Please specify disable_dependent_services=true if you want to proceed with disabling all services."
            )
        _save(call.world, project, on - {api, *under}, {})
    done = time.time() + _seconds(call, api) if api in on else 0.0
    return _operation(call, "DisableServiceResponse", {"service": _service(project, api, False)}, done)


# -- operations --------------------------------------------------------------------------------------------------------


def _operation(call: Call, kind: str, body: Object, ready: float) -> Object:
    """An operation that is done at `ready`, by the clock: there is no work to take up again after a restart."""
    label = f"acat.p2-{number(_project(call))}-{number(f'{body}{stamp()}', 20)}" if ready else "noop.DONE_OPERATION"
    row: Object = {"name": f"operations/{label}", "response": {"@type": _TYPES + kind, **body}, "_ready": ready}
    if ready:
        call.world.store.put(OPERATIONS, label, row)
    return _shown(row)


def _shown(row: Object) -> Object:
    if row["_ready"] > time.time():
        return {"name": row["name"]}
    return {"name": row["name"], "done": True, "response": row["response"]}


def _get_operation(call: Call) -> Object:
    label = call.params["operationsId"]
    row: dict[str, Any] | None = call.world.store.get(OPERATIONS, label)
    if row is None and label == "noop.DONE_OPERATION":
        return {"name": f"operations/{label}", "done": True}
    if row is None:
        raise not_found(f"Operation operations/{label} not found.")
    return _shown(row)


_HANDLERS: dict[str, Handler] = {
    "serviceusage.services.list": _list,
    "serviceusage.services.get": _get,
    "serviceusage.services.enable": _enable,
    "serviceusage.services.disable": _disable,
    "serviceusage.services.batchEnable": _batch_enable,
    "serviceusage.services.batchGet": _batch_get,
    "serviceusage.operations.get": _get_operation,
}

SERVICE = Service(
    name="serviceusage",
    versions=("v1",),
    handlers=_HANDLERS,
    # The real provider's default is v1beta1, for quotas. It asks v1 of services, but for operations, which follow this path.
    custom_endpoints={"SERVICE_USAGE": "v1/"},
    other_state=("services",),
)
