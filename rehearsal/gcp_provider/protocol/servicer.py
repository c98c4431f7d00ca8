"""The gRPC face: what the engine sends, into plain values, and back."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any, TypeVar

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import plugin_pb2, provider_pb2, status_pb2
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderServicer

from rehearsal.gcp_provider import wire
from rehearsal.gcp_provider.errors import Cancelled, GoogleError, InitError, OperationError, ProviderError, one_error
from rehearsal.gcp_provider.google.cloud import Cloud, configured
from rehearsal.gcp_provider.protocol import engine, invokes
from rehearsal.gcp_provider.terraform.diff import FieldChange, Verb
from rehearsal.gcp_provider.terraform.kind import ResourceKind

VERSION = "10.2.0"
"""Of the package whose resources are supported."""
_LOG = logging.getLogger("gcp")
M = TypeVar("M", bound=Callable[..., Any])


def _token(urn: str) -> str:
    """`urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME` -> TYPE."""
    return urn.split("::")[2].rsplit("$", 1)[-1]


def _answering(method: M) -> M:
    """Failures as the engine expects them: a status, with the state of what half exists."""

    @wraps(method)
    def answer(self: Any, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(self, request, context)
        except InitError as error:
            _abort_initialised(context, request, error)
        except Cancelled as error:
            context.abort(grpc.StatusCode.CANCELLED, str(error))
        except (GoogleError, OperationError, ProviderError) as error:
            context.abort(grpc.StatusCode.UNKNOWN, one_error(str(error)))
        except Exception as error:  # noqa: BLE001 the engine has to be told, whatever it is
            _LOG.exception("%s failed", method.__name__)
            context.abort(grpc.StatusCode.INTERNAL, f"the gcp provider failed in {method.__name__}: {error!r}")
        raise AssertionError("abort raises")

    return answer  # type: ignore[return-value]


def _abort_initialised(context: grpc.ServicerContext, request: Any, error: InitError) -> None:
    """The resource is there and goes into the state; the reasons make the next `up` update it."""
    kind = engine.kind_of(_token(request.urn))
    detail = provider_pb2.ErrorResourceInitFailed(
        id=error.resource_id,
        properties=wire.encode(engine.finished(kind, error.outputs)),
        reasons=[one_error(error.reason)],
    )
    packed = AnyMessage()
    packed.Pack(detail)
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=error.reason, details=[packed])
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, error.reason)


class Provider(ResourceProviderServicer):
    """One server may be attached as several provider instances: each connection is configured by itself."""

    def __init__(self, google: str | None) -> None:
        self._google = google
        self._guard = threading.Lock()
        self._clouds: dict[str, Cloud] = {}
        self._latest: Cloud | None = None

    def _cloud(self, context: grpc.ServicerContext) -> Cloud:
        with self._guard:
            found = self._clouds.get(context.peer(), self._latest)
        return configured({}, self._google) if found is None else found

    # -- the plugin ---------------------------------------------------------------------------------------------------

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, supports_autonaming_configuration=True)

    def Attach(self, request: Any, context: Any) -> Empty:
        return Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=VERSION)

    def GetSchema(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetSchemaResponse(schema=json.dumps({"name": "gcp", "version": VERSION}))

    def GetMapping(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetMappingResponse()

    def GetMappings(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetMappingsResponse()

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    @_answering
    def DiffConfig(self, request: Any, context: Any) -> Any:
        """Another project, region or token is the same provider; what that means, each resource's own diff says."""
        old, _ = wire.decode(request.old_inputs)
        new, _ = wire.decode(request.news)
        differs = {name for name in {*old, *new} if old.get(name) != new.get(name)}
        kind = provider_pb2.DiffResponse.DIFF_SOME if differs else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=kind, diffs=sorted(differs))

    @_answering
    def Configure(self, request: Any, context: Any) -> Any:
        arguments, _ = wire.decode(request.args)
        variables = {name.rsplit(":", 1)[-1]: value for name, value in request.variables.items()}
        known = {name: value for name, value in {**variables, **arguments}.items() if value is not wire.UNKNOWN}
        cloud = configured(known, self._google)
        with self._guard:
            self._clouds[context.peer()] = self._latest = cloud
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True, supportsPreview=True, supports_autonaming_configuration=True
        )

    def Cancel(self, request: Any, context: Any) -> Empty:
        self._cloud(context).cancelled.set()
        return Empty()

    @_answering
    def Invoke(self, request: Any, context: Any) -> Any:
        args, secrets = wire.decode(request.args)
        result = invokes.invoke(self._cloud(context), request.tok, {k: v for k, v in args.items() if v is not None})
        return provider_pb2.InvokeResponse(**{"return": wire.encode(result, secrets & set(result))})

    # -- resources ----------------------------------------------------------------------------------------------------

    @_answering
    def Check(self, request: Any, context: Any) -> Any:
        try:
            kind = engine.kind_of(_token(request.urn))
        except ProviderError as error:
            # As a failed check, other resources are still looked at, and the engine names this one.
            return provider_pb2.CheckResponse(failures=[provider_pb2.CheckFailure(reason=str(error))])
        old, _ = wire.decode(request.olds)
        news, secrets = wire.decode(request.news)
        inputs, failures = engine.check(kind, old, news, _naming(request))
        found = [provider_pb2.CheckFailure(property=entry.path, reason=entry.reason) for entry in failures]
        return provider_pb2.CheckResponse(inputs=wire.encode(inputs, secrets), failures=found)

    @_answering
    def Diff(self, request: Any, context: Any) -> Any:
        kind = engine.kind_of(_token(request.urn))
        state, _ = wire.decode(request.olds)
        inputs, _ = wire.decode(request.news)
        return _diff_response(engine.diff(kind, self._cloud(context), state, inputs, list(request.ignoreChanges)))

    @_answering
    def Create(self, request: Any, context: Any) -> Any:
        kind, cloud = engine.kind_of(_token(request.urn)), self._cloud(context)
        inputs, secrets = wire.decode(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=_outputs(engine.preview_create(kind, cloud, inputs), secrets))
        identity, outputs = engine.create(kind, cloud, inputs, request.timeout)
        return provider_pb2.CreateResponse(id=identity, properties=_outputs(outputs, secrets))

    @_answering
    def Read(self, request: Any, context: Any) -> Any:
        kind, cloud = engine.kind_of(_token(request.urn)), self._cloud(context)
        state, secrets = wire.decode(request.properties)
        inputs, secret_inputs = wire.decode(request.inputs)
        found = engine.read(kind, cloud, request.id, state, inputs, request.timeout)
        if found is None:
            return provider_pb2.ReadResponse()
        outputs, refreshed = found
        identity = engine.canonical(kind, cloud, request.id)
        shown = _outputs(outputs, _whole(kind, secrets))
        return provider_pb2.ReadResponse(id=identity, properties=shown, inputs=wire.encode(refreshed, secret_inputs))

    @_answering
    def Update(self, request: Any, context: Any) -> Any:
        kind, cloud = engine.kind_of(_token(request.urn)), self._cloud(context)
        state, _ = wire.decode(request.olds)
        inputs, secrets = wire.decode(request.news)
        if request.preview:
            outputs = engine.preview_update(kind, cloud, state, inputs, list(request.ignoreChanges))
        else:
            outputs = engine.update(
                kind, cloud, request.id, state, inputs, request.timeout, list(request.ignoreChanges)
            )
        return provider_pb2.UpdateResponse(properties=_outputs(outputs, secrets))

    @_answering
    def Delete(self, request: Any, context: Any) -> Empty:
        kind, cloud = engine.kind_of(_token(request.urn)), self._cloud(context)
        state, _ = wire.decode(request.properties)
        engine.delete(kind, cloud, request.id, state, request.timeout)
        return Empty()


def _naming(request: Any) -> engine.Naming:
    name = request.name if request.name else request.urn.rsplit("::", 1)[-1]
    options = request.autonaming
    disabled = request.HasField("autonaming") and options.mode == options.DISABLE
    return engine.Naming(name, request.randomSeed, options.proposed_name, options.mode == options.ENFORCE, disabled)


def _outputs(outputs: dict[str, Any], secrets: Collection[str]) -> Any:
    return wire.encode(outputs, {name for name in secrets if name in outputs})


def _whole(kind: ResourceKind, secrets: set[str]) -> set[str]:
    """Properties that are secret as a whole, not for one part of theirs, which is marked by itself."""
    parts = {path.split(".")[0] for path, rule in kind.table.items() if rule.secret}
    return secrets - parts - {"effectiveLabels", "pulumiLabels"}


_KINDS = {
    (Verb.ADD, False): "ADD",
    (Verb.ADD, True): "ADD_REPLACE",
    (Verb.DELETE, False): "DELETE",
    (Verb.DELETE, True): "DELETE_REPLACE",
    (Verb.UPDATE, False): "UPDATE",
    (Verb.UPDATE, True): "UPDATE_REPLACE",
}


def _diff_response(found: engine.Difference) -> Any:
    response = provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if found.changes else provider_pb2.DiffResponse.DIFF_NONE,
        diffs=sorted({change.top for change in found.changes}),
        replaces=sorted({change.path for change in found.changes if change.force}),
        deleteBeforeReplace=found.replaces and found.delete_first,
        hasDetailedDiff=True,
    )
    for change in found.changes:
        response.detailedDiff[change.path].CopyFrom(_property_diff(change))
    return response


def _property_diff(change: FieldChange) -> Any:
    return provider_pb2.PropertyDiff(kind=provider_pb2.PropertyDiff.Kind.Value(_KINDS[change.verb, change.force]))
