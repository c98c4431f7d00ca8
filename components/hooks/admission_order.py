"""A job's turn: before it is submitted, the jobs that it follows must have been admitted by Kueue.

The promise of an order is kept where a user can see it: `up` stands at the job that waits, and says for whom. Nothing is
written on the jobs themselves for it, so that a job that gets a follower does not change.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from components.hooks.kubernetes_api import ExecApi, KubernetesApi
from components.hooks.webhook_ready import GateError, connected, pauses


@dataclass(frozen=True)
class Predecessor:
    """A job that another one follows."""

    kind: str
    namespace: str
    name: str


class AdmissionOrder:
    """The turn of one job. Jobs that follow nobody have no turn to wait for."""

    def __init__(
        self,
        job: str,
        predecessors: Sequence[Predecessor],
        kubeconfig: pulumi.Output[str],
        timeout: int,
        connect: Callable[[str], KubernetesApi] = ExecApi,
    ) -> None:
        self._job, self._followed = job, predecessors
        self._kubeconfig, self._timeout, self._connect = kubeconfig, timeout, connect
        self._hooks = [pulumi.ResourceHook(f"{job}-turn", self._before)] if predecessors else []

    def binding(self, others: pulumi.ResourceHookBinding) -> pulumi.ResourceHookBinding:
        """`others`, and this turn before them on creation. An update is no submission and waits for nobody."""
        created = others.before_create if others.before_create is not None else []
        return pulumi.ResourceHookBinding(
            before_create=[*self._hooks, *created], before_update=others.before_update, on_error=others.on_error
        )

    async def _before(self, args: pulumi.ResourceHookArgs) -> None:
        api = await connected(args.name, self._kubeconfig, self._connect)
        await wait_for_turn(api, self._job, self._followed, self._timeout)


async def wait_for_turn(
    api: KubernetesApi,
    job: str,
    predecessors: Sequence[Predecessor],
    timeout: float,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Returns when all of `followed` have been admitted (or are finished); raises GateError when the time is over."""
    end = clock() + timeout
    for pause in pauses():
        waiting = await asyncio.to_thread(_waiting, api, predecessors)
        if not waiting:
            return
        if clock() + pause > end:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in waiting.items())
            raise GateError(
                f"{job} was not submitted: it follows jobs that Kueue has not admitted within {timeout:.0f} s. {reasons}. "
                "They stay queued; run `pulumi up` again to go on waiting, or raise timeouts.admission."
            )
        await sleep(pause)


def _waiting(api: KubernetesApi, predecessors: Sequence[Predecessor]) -> dict[str, str]:
    """The jobs that are not admitted yet, each with the reason."""
    found = {}
    for job in predecessors:
        try:
            reason = why_not_admitted(api.workloads(job.namespace), job)
        except (ApiException, HTTPError, OSError) as error:
            reason = f"the API server does not answer: {str(error).splitlines()[0]}"
        if reason is not None:
            found[job.name] = reason
    return found


def why_not_admitted(workloads: Sequence[dict[str, Any]], job: Predecessor) -> str | None:
    """None when Kueue has admitted the job, else its reason. An elastic job has a Workload for each of its sizes: one that
    was admitted is enough."""
    own = [
        workload
        for workload in workloads
        for owner in workload["metadata"].get("ownerReferences", [])
        if (owner["kind"], owner["name"]) == (job.kind, job.name)
    ]
    conditions = [c for workload in own for c in workload.get("status", {}).get("conditions", [])]
    if any(c["type"] in ("Admitted", "Finished") and c["status"] == "True" for c in conditions):
        return None
    reasons = [c["message"] for c in conditions if c["type"] == "QuotaReserved" and c["status"] != "True"]
    checks = [c for workload in own for c in workload.get("status", {}).get("admissionChecks", [])]
    reasons += [f"{c['name']}: {c['message']}" for c in checks if c.get("message")]
    return reasons[0] if reasons else "Kueue has not looked at it yet"
