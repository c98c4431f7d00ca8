"""What keeps a Helm release that was interrupted from blocking every later `up`, and says why one failed.

Helm writes a record (a Secret) before it installs. When the engine is killed in between, Pulumi knows nothing of the
release and Helm refuses to install it again: `cannot re-use a name that is still in use`; or, in an upgrade, `another
operation is in progress`. Both were solved by hand so far. The objects themselves carry Helm's ownership marks, so
with the stale record gone the same installation takes them up again.

A release that is installed is another matter: what somebody deletes of it, neither Pulumi nor Helm looks for. That is
operations/stack/controllers.py.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pulumi
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from components.hooks.kubernetes_api import ExecApi, KubernetesApi
from components.hooks.webhook_readiness import why_not_ready
from components.hooks.webhook_ready import Controller, GateError, connected, pauses


class ReleaseRecovery:
    """Hooks of one release."""

    def __init__(
        self,
        release: str,
        controller: Controller,
        kubeconfig: pulumi.Output[str],
        timeout: int,
        connect: Callable[[str], KubernetesApi] = ExecApi,
    ) -> None:
        self._release = release
        self._controller = controller
        self._kubeconfig = kubeconfig
        self._timeout = timeout
        self._connect = connect
        self._install = pulumi.ResourceHook(f"{release}-release-install", self._before_install)
        self._upgrade = pulumi.ResourceHook(f"{release}-release-upgrade", self._before_upgrade)
        self._failed = pulumi.ErrorHook(f"{release}-release-failed", self._after_failure)

    def binding(self) -> pulumi.ResourceHookBinding:
        return pulumi.ResourceHookBinding(
            before_create=[self._install], before_update=[self._upgrade], on_error=[self._failed]
        )

    async def _before_install(self, _args: pulumi.ResourceHookArgs) -> None:
        """The engine is about to create, so whatever record there is belongs to an interrupted run of ours: the
        cluster, the namespace and the release's name are this stack's own."""
        await self._forget(pending_only=False)

    async def _before_upgrade(self, _args: pulumi.ResourceHookArgs) -> None:
        """Only the record of an operation that never ended; finished revisions are Helm's history."""
        await self._forget(pending_only=True)

    async def _forget(self, *, pending_only: bool) -> None:
        api = await self._api()

        def attempt() -> list[str]:
            return forget(api, self._controller.namespace, self._release, pending_only=pending_only)

        await patiently(attempt, f"Helm release {self._release}", self._timeout)

    async def _after_failure(self, _args: pulumi.ErrorHookArgs) -> bool:
        """Helm only says `context deadline exceeded`. No retry: its own wait was long enough."""
        try:
            api = await self._api()
            pods = await asyncio.to_thread(api.pods, self._controller.namespace)
            pulumi.log.error(why_not_ready(self._controller.deployment, pods))
        except Exception as error:  # noqa: BLE001 an error hook that fails would hide the failure it reports on
            pulumi.log.debug(f"the state of {self._controller.deployment} could not be read: {error}")
        return False

    async def _api(self) -> KubernetesApi:
        return await connected(f"Helm release {self._release}", self._kubeconfig, self._connect)


def forget(api: KubernetesApi, namespace: str, release: str, *, pending_only: bool) -> list[str]:
    """Deletes Helm's stale records of a release and returns their names."""
    stale = [
        str(record["name"])
        for record in api.release_records(namespace, release)
        if not pending_only or str(record["labels"].get("status", "")).startswith("pending-")
    ]
    for name in stale:
        api.delete_secret(namespace, name)
    return stale


async def patiently(
    attempt: Callable[[], object],
    label: str,
    timeout: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Tries until the API server answers: that of a new cluster may be away for a moment."""
    end = clock() + timeout
    for pause in pauses():
        try:
            await asyncio.to_thread(attempt)
            return
        except (HTTPError, OSError, ApiException) as error:
            if isinstance(error, ApiException) and int(error.status or 0) < 500:
                raise GateError(f"{label}: the API server refuses us: {error.reason}") from error
            if clock() + pause > end:
                raise GateError(f"{label}: the API server did not answer within {timeout:.0f} s: {error}") from error
        await sleep(pause)
