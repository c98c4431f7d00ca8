"""The containers of one pod: started, probed, ended, and what became of them kept in their records."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rehearsal.kubelet.containers import container_records, etc_files, tpu
from rehearsal.kubelet.containers.downward_api import Surroundings
from rehearsal.kubelet.containers.expansion import expand
from rehearsal.kubelet.containers.probing import Probing
from rehearsal.kubelet.containers.process import Launch, Process, termination_message
from rehearsal.kubelet.containers.variables import environment, hostname
from rehearsal.kubelet.network.pod_network import PodNetwork
from rehearsal.kubelet.pods import restart_policy
from rehearsal.kubelet.pods.context import Context
from rehearsal.kubelet.volumes import volumes
from rehearsal.kubernetes import image_table
from rehearsal.kubernetes.time import stamp

KEPT_RUNS = 3
START_TIMEOUT_S = 20.0
DEFAULT_GRACE_S = 30
WRITABLE = "/tmp"
"""HOME in a root of the machine's own files, which are read-only but for this."""


class Runs:
    """`wake` is called whenever something happened that the pod's worker should look at."""

    def __init__(self, context: Context, folder: Path, pod: dict[str, Any], wake: Callable[[], None]) -> None:
        self.context, self.folder, self.pod, self.wake = context, folder, pod, wake
        self.file = folder / "containers.json"
        self.specs = {container["name"]: container for container in image_table.containers(pod)}
        status = pod.get("status") or {}
        reported = [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]
        self.records = container_records.load(self.file, list(self.specs), reported)
        for record in self.records.values():
            container_records.lost(record, stamp())
        self.processes: dict[str, Process] = {}
        self.probing: dict[str, Probing] = {}

    def save(self) -> None:
        container_records.save(self.file, self.records)

    def lookup(self, kind: str, name: str) -> dict[str, Any] | None:
        return self.context.find(kind, self.pod["metadata"]["namespace"], name)

    def launch(self, name: str, network: PodNetwork, around: Surroundings) -> None:
        """Starts a container (again). Raises ConfigError, FieldError, MountError."""
        container, record, folder = self.specs[name], self.records[name], self.folder / name
        launch = self._launch(container, network, around)
        ended = record.ended
        if record.runs:
            record.restart_count += 1
            record.crashes = 1 if restart_policy.steady(record, self.context.backoff_scale) else record.crashes + 1
            record.last_state = {"terminated": ended} if ended is not None else {}
        number, record.runs = record.runs, record.runs + 1
        record.state = {"running": {"startedAt": stamp()}}
        self.save()  # before the process starts: should the agent die now, this run has been counted
        process = Process(folder, number, launch, self.context.state, self.wake)
        self.processes[name] = process
        deadline = time.monotonic() + START_TIMEOUT_S
        while process.pid() is None and not process.over and time.monotonic() < deadline:
            time.sleep(0.01)
        if process.pid() is not None:
            self.context.events.say(self.pod, "Normal", "Started", "Container started", name)
        self.probing[name] = Probing(
            self.context,
            self.pod,
            container,
            record,
            process,
            around.pod_ip,
            lambda why: self.kill(name, why),
            self.wake,
        )
        self._forget_old(folder, number)

    def _launch(self, container: dict[str, Any], network: PodNetwork, around: Surroundings) -> Launch:
        image = image_table.image_for(container["image"], self.context.table)
        assert image is not None, "only pods whose images are in the table come here"
        pod, folder = self.pod, self.folder / container["name"]
        known = environment(pod, container, around, self.lookup, self.context.service_host, self.context.service_port)
        if not image.static:
            known.setdefault("HOME", WRITABLE)
        node = self.context.node(pod["spec"]["nodeName"])
        labels = (node["metadata"].get("labels") or {}) if node is not None else {}
        known = {**tpu.of_slice(container, labels), **known, **tpu.variables(container, labels), **image.environment}
        command, args = ([expand(word, known) for word in container.get(key) or []] for key in ("command", "args"))
        binds = etc_files.write(self.folder / "etc", pod, around.pod_ip, self.context.name_server, image.static)
        binds += [(path, path, True) for path in image.show]
        binds += volumes.binds(pod, container, self.folder / "volumes", known)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "termination-log").write_text("")
        message_path = container.get("terminationMessagePath") or "/dev/termination-log"
        binds += [(str(folder / "termination-log"), message_path, False)]
        binds += [(image.program, image.entrypoint[0], True)] if image.program is not None else []
        return Launch(
            argv=image_table.argv(image, command, args),
            env=known,
            cwd=container.get("workingDir") or "/",
            hostname=hostname(pod),
            static=image.static,
            binds=binds,
            network_of=network.pid,
            nice=image.nice,
        )

    def collect(self) -> None:
        """Notes the endings of containers."""
        for name, process in list(self.processes.items()):
            if not process.over:
                continue
            del self.processes[name]
            if name in self.probing:
                self.probing.pop(name).stop()
            record, container = self.records[name], self.specs[name]
            terminated = process.outcome(record.state.get("running", {}).get("startedAt") or stamp(), stamp())
            policy = container.get("terminationMessagePolicy") or "File"
            if terminated["reason"] != "StartError":
                message = termination_message(terminated, self.folder / name, process.number, policy)
                terminated |= {"message": message} if message else {}
            else:
                self.context.events.say(self.pod, "Warning", "Failed", f"Error: {terminated['message']}", name)
            record.state = {"terminated": {**terminated, "containerID": self._id(name, process.number)}}
            record.ready = record.started = False
        self.save()

    def _id(self, name: str, number: int) -> str:
        return f"rehearsal://{self.pod['metadata']['uid']}/{name}/{number}"

    def kill(self, name: str, why: str, for_good: bool = True) -> None:
        """Ends a container gently and, unless the caller sees to that, for good after its grace period. Does not wait."""
        process = self.processes.get(name)
        if process is None or process.over:
            return
        self.context.events.say(self.pod, "Normal", "Killing", why, name)
        process.signal(signal.SIGTERM)
        if for_good:
            timer = threading.Timer(self.grace(), process.signal, [signal.SIGKILL])
            timer.daemon = True
            timer.start()

    def grace(self) -> float:
        stated = self.pod["spec"].get("terminationGracePeriodSeconds")
        return float(DEFAULT_GRACE_S if stated is None else stated)

    def signal_all(self, number: signal.Signals) -> None:
        for process in self.processes.values():
            process.signal(number)

    def _forget_old(self, folder: Path, number: int) -> None:
        """Keeps the files of the latest runs only."""
        for path in folder.glob("*.*"):
            run = path.name.split(".")[0]
            if run.isdigit() and int(run) <= number - KEPT_RUNS:
                path.unlink(missing_ok=True)
