"""The life of one pod, in a thread of its own: brought up, kept up, reported, and taken down."""

from __future__ import annotations

import shutil
import signal
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

from rehearsal.kubelet.api.reporter import Reporter
from rehearsal.kubelet.containers.container_runs import Runs
from rehearsal.kubelet.containers.downward_api import FieldError, Surroundings
from rehearsal.kubelet.containers.variables import ConfigError
from rehearsal.kubelet.network.namespace import PodNetworkError
from rehearsal.kubelet.network.pod_network import PodNetwork
from rehearsal.kubelet.pods import restart_policy
from rehearsal.kubelet.pods.context import Context, node_address, pod_folder
from rehearsal.kubelet.pods.status import View
from rehearsal.kubelet.volumes import volume_payload, volumes
from rehearsal.kubernetes import image_table
from rehearsal.kubernetes.client import ApiError
from rehearsal.kubernetes.time import stamp

RETRY_S = 2.0


class Worker(threading.Thread):
    """`pod` is the object as last seen. `forget` takes the pod down without a word to the API server."""

    def __init__(self, context: Context, pod: dict[str, Any], ended: Callable[[Worker], None]) -> None:
        super().__init__(name=f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']}", daemon=True)
        self.context, self.pod, self.ended = context, pod, ended
        self.uid = pod["metadata"]["uid"]
        self.folder = pod_folder(context.pods, pod)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.bell = threading.Event()
        self.runs = Runs(context, self.folder, pod, self.bell.set)
        self.network = PodNetwork(context, self.folder, pod)
        self.reporter = Reporter(context.client)
        known = pod.get("status") or {}
        self.started = known.get("startTime") or stamp()
        self.phase = known["phase"] if known.get("phase") in ("Succeeded", "Failed") else None
        self.initialized = False
        self.removed = self.at_once = self.done = False
        self.look_again_at: float | None = None

    # -- called by the agent ------------------------------------------------------------------------------------------

    def update(self, pod: dict[str, Any]) -> None:
        self.pod = self.runs.pod = pod
        self.bell.set()

    def wake(self) -> None:
        self.bell.set()

    def forget(self, at_once: bool) -> None:
        """The pod is gone from the API server, or (`at_once`) its node is gone with all that ran there."""
        self.removed, self.at_once = True, at_once
        self.bell.set()

    # -- the loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        while not self.done:
            self.look_again_at = None
            try:
                self._look()
            except Exception:  # noqa: BLE001 - one pod's fault must not end its worker
                traceback.print_exc()
                self._again(time.time() + RETRY_S)
            if not self.done:  # the next look comes when the bell rings or the time has come
                self.bell.wait(None if self.look_again_at is None else max(self.look_again_at - time.time(), 0.0))
                self.bell.clear()
        self.ended(self)

    def _again(self, moment: float | None) -> None:
        """Asks for another look at `moment`, if nothing happens before."""
        if moment is not None:
            self.look_again_at = moment if self.look_again_at is None else min(self.look_again_at, moment)

    def _look(self) -> None:
        if self.context.stopping.is_set():
            return
        if self.removed or self.pod["metadata"].get("deletionTimestamp"):
            self._end()
        elif self.phase is None:
            self._keep_up()

    def _keep_up(self) -> None:
        self.runs.collect()
        trouble = self._surroundings()
        if isinstance(trouble, Surroundings):
            plan = restart_policy.plan(self.pod, self.runs.records, time.time(), self.context.backoff_scale)
            self.initialized = plan.initialized
            for name, (reason, message) in plan.waiting.items():
                self._waits(name, reason, message)
            for name in plan.start:
                self._launch(name, trouble)
            self._again(plan.look_again_at)
            self._again(self.context.tokens.next_renewal(self.uid))
            if plan.phase is not None:
                self._finish(plan.phase)
        else:
            self._again(time.time() + RETRY_S)
        self._report()

    def _surroundings(self) -> Surroundings | None:
        """Memory, network and volumes; None when they cannot be had yet, which an event then tells."""
        say, images = self.context.events.say, self.context.table
        if not self.context.room.take(
            self.pod, image_table.memory(self.pod, images), *image_table.limited(self.pod, images)
        ):
            say(
                self.pod,
                "Warning",
                "NoRoom",
                "The rehearsal's machine has no room for another such job: it waits for one to end",
            )
            return None
        try:
            self.network.ensure()
        except PodNetworkError as error:
            say(self.pod, "Warning", "FailedCreatePodSandBox", f"Failed to create pod sandbox: {error}")
            return None
        node = self.context.node(self.network.node) or {}
        allocatable = (node.get("status") or {}).get("allocatable") or {}
        around = Surroundings(self.network.address, node_address(node), allocatable)
        try:
            volumes.prepare(
                self.pod, self.folder / "volumes", around, self.runs.lookup, self._token, self.context.buckets
            )
        except volume_payload.MountError as error:
            if any(record.running for record in self.runs.records.values()):
                return around  # what runs keeps the files it has, as with the kubelet
            say(self.pod, "Warning", "FailedMount", str(error))
            return None
        return around

    def _token(self, audience: str | None, seconds: int) -> str:
        try:
            return self.context.tokens.get(self.pod, audience, seconds)
        except ApiError as error:
            raise volume_payload.MountError(f"failed to fetch token: {error}") from error

    def _launch(self, name: str, around: Surroundings) -> None:
        try:
            self.runs.launch(name, self.network, around)
        except (ConfigError, FieldError, volume_payload.MountError) as error:
            self._waits(name, "CreateContainerConfigError", str(error))
            self._again(time.time() + RETRY_S)

    def _waits(self, name: str, reason: str, message: str) -> None:
        record = self.runs.records[name]
        if record.state.get("waiting", {}).get("reason") == reason:
            return
        if "terminated" in record.state:
            record.last_state = {"terminated": record.state["terminated"]}
        record.state = {"waiting": {"reason": reason, "message": message}}
        short, text = ("BackOff", f"Back-off restarting failed container {name} in pod {self.pod['metadata']['name']}")
        if reason != "CrashLoopBackOff":
            short, text = "Failed", f"Error: {message}"
        self.context.events.say(self.pod, "Warning", short, text, name)

    # -- the end ------------------------------------------------------------------------------------------------------

    def _finish(self, phase: str) -> None:
        """The pod has run to its end: its sidecars stop, its network goes, its logs and status stay."""
        self._stop_all(self.runs.grace)
        self.network.remove()
        self.context.room.leave(self.uid)
        self.phase = phase

    def _stop_all(self, grace: Callable[[], float]) -> None:
        """Ends all containers; `grace()` is asked again and again, since a second deletion may shorten it."""
        begun = time.monotonic()
        for name in list(self.runs.processes):
            self.runs.kill(name, f"Stopping container {name}", for_good=False)
        while self.runs.processes:
            left = begun + grace() - time.monotonic()
            if left <= 0:
                self.runs.signal_all(signal.SIGKILL)
            self.bell.wait(min(max(left, 0.05), 1.0))
            self.bell.clear()
            self.runs.collect()

    def _grace(self) -> float:
        """The seconds that a deletion leaves the pod."""
        if self.at_once:
            return 0.0
        stated = self.pod["metadata"].get("deletionGracePeriodSeconds")
        return self.runs.grace() if stated is None else float(stated)

    def _end(self) -> None:
        """Takes the pod down; the API server is told last, so that what it forgets no longer runs."""
        self._stop_all(self._grace)
        self.network.remove()
        self.context.tokens.forget(self.uid)
        self.context.room.leave(self.uid)
        volumes.release(self.folder / "volumes")
        if not self.removed:
            if self.phase is None:
                endings = [self.runs.records[container["name"]].ended for container in self.pod["spec"]["containers"]]
                clean = all(ending is not None and ending["exitCode"] == 0 for ending in endings)
                self.phase = "Succeeded" if clean else "Failed"
            self._report()
            if self.look_again_at is not None or not self.reporter.delete(self.pod):
                self._again(time.time() + RETRY_S)
                return
        self.done = True
        shutil.rmtree(self.folder, ignore_errors=True)

    def _report(self) -> None:
        node = self.context.node(self.network.node) or {}
        view = View(
            self.runs.records, self.network.address, node_address(node), self.started, self.initialized, self.phase,
            sandbox=self.network.up,
        )  # fmt: skip
        self.runs.save()
        if not self.reporter.report(self.pod, view):
            self._again(time.time() + RETRY_S)
