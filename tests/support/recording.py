"""A mock engine that records what plain mocks drop: parent, dependencies, protection, provider, hooks, outputs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pulumi
from pulumi.runtime import mocks as pulumi_mocks
from pulumi.runtime import rpc
from pulumi.runtime.sync_await import _ensure_event_loop


@dataclass(frozen=True)
class Alias:
    """What a resource was before: a whole URN, or the parts of it that were others (the rest is empty)."""

    urn: str
    name: str
    type: str
    parent: str
    no_parent: bool


@dataclass
class Registered:
    """One resource as the engine was asked to make it."""

    urn: str
    type: str
    name: str
    parent: str
    provider: str
    inputs: dict[str, Any]
    depends_on: tuple[str, ...]
    protect: bool
    delete_before_replace: bool
    replace_on_changes: tuple[str, ...]
    replacement_trigger: str
    ignore_changes: tuple[str, ...]
    timeouts: tuple[str, str, str]
    hooks: dict[str, tuple[str, ...]]
    aliases: tuple[Alias, ...]
    outputs: dict[str, Any] | None = None


class _Answers(pulumi_mocks.Mocks):
    """What the cloud would add to a resource."""

    def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        state = dict(args.inputs)
        if args.resource_id:
            # A resource that is read: the cloud tells everything, of which the name is enough here.
            state["name"] = args.resource_id.rsplit("/", 1)[-1]
        if args.typ == "gcp:container/cluster:Cluster":
            state |= {"endpoint": "172.16.0.2", "masterAuth": {"clusterCaCertificate": "Q0E="}}
        if args.typ == "gcp:serviceaccount/account:Account":
            state |= {"email": f"{args.inputs['accountId']}@{args.inputs['project']}.iam.gserviceaccount.com"}
        if args.typ == "gcp:storage/bucket:Bucket":
            state = {"project": "some-project", **state, "projectNumber": 123456789012}
        return f"{args.name}-id", state

    def call(self, args: pulumi_mocks.MockCallArgs) -> NoReturn:
        raise AssertionError(f"the program calls {args.token}: it must not ask the cloud while it plans")


class RecordingMonitor(pulumi_mocks.MockMonitor):
    def __init__(self) -> None:
        super().__init__(_Answers())
        self.registered: dict[str, Registered] = {}
        self.read: list[str] = []
        self.twice: list[str] = []

    def RegisterResource(self, request: Any) -> Any:
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type == "pulumi:pulumi:Stack":
            return response
        if response.urn in self.registered:
            self.twice.append(response.urn)
        _ensure_event_loop()
        binding = ("before_create", "before_update", "on_error")
        self.registered[response.urn] = Registered(
            urn=response.urn,
            type=request.type,
            name=request.name,
            parent=request.parent,
            provider=request.provider,
            inputs=rpc.deserialize_properties(request.object),
            depends_on=tuple(request.dependencies),
            protect=request.protect,
            delete_before_replace=request.deleteBeforeReplace,
            replace_on_changes=tuple(request.replaceOnChanges),
            replacement_trigger=request.replacement_trigger.string_value,
            ignore_changes=tuple(request.ignoreChanges),
            timeouts=(request.customTimeouts.create, request.customTimeouts.update, request.customTimeouts.delete),
            aliases=tuple(
                Alias(alias.urn, alias.spec.name, alias.spec.type, alias.spec.parentUrn, alias.spec.noParent)
                for alias in request.aliases
            ),
            hooks={kind: tuple(getattr(request.hooks, kind)) for kind in binding},
        )
        return response

    def ReadResource(self, request: Any) -> Any:
        response = super().ReadResource(request)  # type: ignore[no-untyped-call]
        self.read.append(request.id)
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:
        if request.urn in self.registered:
            _ensure_event_loop()
            self.registered[request.urn].outputs = rpc.deserialize_properties(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


@dataclass
class Recording:
    """Everything a program registered, after it has been drained."""

    resources: list[Registered] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    """Ids of resources that were only read."""

    def of_type(self, type_: str) -> list[Registered]:
        return [resource for resource in self.resources if resource.type == type_]

    def named(self, name: str, type_: str | None = None) -> Registered:
        found = [r for r in self.resources if r.name == name and (type_ is None or r.type == type_)]
        assert len(found) == 1, f"{len(found)} resources are called {name}"
        return found[0]

    def needs(self, resource: Registered, other: Registered) -> bool:
        """Whether `resource` is created after `other`, directly or through others."""
        by_urn = {entry.urn: entry for entry in self.resources}
        seen: set[str] = set()
        frontier = list(resource.depends_on)
        while frontier:
            urn = frontier.pop()
            if urn == other.urn:
                return True
            if urn not in seen and urn in by_urn:
                seen.add(urn)
                frontier.extend(by_urn[urn].depends_on)
        return False


def record(program: Callable[[], Any]) -> Recording:
    """Runs a program under the mock engine until all its resources are registered, and returns them.

    Raises AssertionError for a URN that is used twice, at which a real engine stops."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    monitor = RecordingMonitor()
    try:
        # The stack resource of the mock engine starts a task, so it needs the loop to run.
        async def run() -> None:
            pulumi_mocks.set_mocks(_Answers(), project="tpu-platform", stack="test", preview=False, monitor=monitor)
            program()
            await pulumi.runtime.stack.wait_for_rpcs()

        loop.run_until_complete(run())
    finally:
        loop.close()
        asyncio.set_event_loop(asyncio.new_event_loop())
    assert not monitor.twice, f"Duplicate resource URN: {', '.join(monitor.twice)}"
    return Recording(list(monitor.registered.values()), monitor.read)
