"""The readiness gate: before an object that a webhook must admit, ask until the webhook answers.

A Release that is finished does not mean a webhook that can be reached: endpoints spread, certificates are rotated, a
pod restarts. The Kubernetes provider does not ask again after `connection refused`, so a first `up` would fail and a
second succeed. The gate is a resource hook: the engine runs it right before it creates or updates the object (never
in a preview), and an error of the hook fails that step, with the hook's text.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from urllib3.exceptions import HTTPError

from components.hooks.kubernetes_api import Answer, ExecApi, KubernetesApi
from components.hooks.webhook_readiness import Readiness, failing_webhook, readiness, why_not_ready

_OBJECT_KEYS = ("apiVersion", "kind", "metadata", "spec")
_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.5, 5.0, 1.6


class GateError(Exception):
    """Its text is all a user sees of a failed gate."""


@dataclass(frozen=True)
class Controller:
    """Whose webhook it is, to say what is wrong with it."""

    title: str
    namespace: str
    deployment: str


class WebhookGate:
    """One gate for all objects of a controller."""

    def __init__(
        self,
        controller: Controller,
        kubeconfig: pulumi.Output[str],
        timeout: int,
        connect: Callable[[str], KubernetesApi] = ExecApi,
    ) -> None:
        self._controller = controller
        self._kubeconfig = kubeconfig
        self._timeout = timeout
        self._connect = connect
        self._hook = pulumi.ResourceHook(f"{controller.title.lower()}-webhook-gate", self._before)

    def binding(self) -> pulumi.ResourceHookBinding:
        return pulumi.ResourceHookBinding(before_create=[self._hook], before_update=[self._hook])

    async def _before(self, args: pulumi.ResourceHookArgs) -> None:
        """The hook. The kubeconfig is known by now: the object needs a provider that is made from it."""
        inputs = args.new_inputs
        if inputs is None:
            raise GateError(f"{args.name}: the engine ran the gate without the object")
        api = await connected(args.name, self._kubeconfig, self._connect)
        await wait_until_admitted(api, manifest_of(inputs), self._controller, self._timeout)


async def connected(
    name: str, kubeconfig: pulumi.Output[str], connect: Callable[[str], KubernetesApi]
) -> KubernetesApi:
    """The cluster's API, for a hook of the resource `name`. Raises GateError while there is no cluster."""
    known = await kubeconfig.future()
    if known is None:
        raise GateError(f"{name}: the cluster's endpoint is not known")
    return await asyncio.to_thread(connect, known)


async def wait_until_admitted(
    api: KubernetesApi,
    manifest: Mapping[str, Any],
    controller: Controller,
    timeout: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Returns when a dry run of the object passes; raises GateError when it is denied or the time is over."""
    end = clock() + timeout
    label = f"{manifest['kind']} {manifest['metadata']['name']}"
    for pause in pauses():
        answer = await asyncio.to_thread(_ask, api, manifest)
        decision = readiness(answer)
        if decision is Readiness.READY:
            return
        if decision is Readiness.DENIED:
            raise GateError(f"{label} is refused: {answer.message}")
        if clock() + pause > end:
            reason = await asyncio.to_thread(_reason, api, controller)
            raise GateError(_timeout_text(label, answer, controller, timeout, reason))
        await sleep(pause)


def pauses() -> Iterator[float]:
    """Half a second, then longer and longer, at most five seconds."""
    pause = _FIRST_PAUSE
    while True:
        yield pause
        pause = min(pause * _GROWTH, _LONGEST_PAUSE)


def manifest_of(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The object itself, out of a resource's inputs; the engine adds keys of its own."""
    return {key: plain(inputs[key]) for key in _OBJECT_KEYS if key in inputs}


def plain(value: Any) -> Any:
    """Whole numbers as such: the engine's wire format knows only floating point, and a strict API server refuses 2.0
    where it wants 2."""
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _ask(api: KubernetesApi, manifest: Mapping[str, Any]) -> Answer:
    """A connection that fails counts as a busy server."""
    try:
        return api.dry_run(manifest)
    except (HTTPError, OSError) as error:
        return Answer(503, f"no answer from the API server: {error}")


def _reason(api: KubernetesApi, controller: Controller) -> str:
    try:
        return why_not_ready(controller.deployment, api.pods(controller.namespace))
    except Exception as error:  # noqa: BLE001 the reason is a courtesy: failing to find it must not hide the timeout
        return f"the state of {controller.deployment} could not be read: {error}"


def _timeout_text(label: str, answer: Answer, controller: Controller, timeout: float, reason: str) -> str:
    webhook = failing_webhook(answer.message)
    what = f"webhook {webhook}" if webhook is not None else f"{controller.title}'s API"
    return (
        f"{label} was not created: {what} did not answer within {timeout:.0f} s. {reason} "
        f"(namespace {controller.namespace}). Last answer: {answer.message}. "
        "Fix the cause and run `pulumi up` again; it goes on from here."
    )
