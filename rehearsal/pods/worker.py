"""One pod's life: sandbox, volumes, containers, restarts, status, end. A thread of its own drives it."""

from __future__ import annotations

import shutil
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kubernetes import client
from urllib3.exceptions import HTTPError

from rehearsal.pods import env as environment
from rehearsal.pods import netns, volumes
from rehearsal.pods.api import Api, Object
from rehearsal.pods.container import Process, describe, ended
from rehearsal.pods.images import Table
from rehearsal.pods.probes import Prober, Target
from rehearsal.pods.status import ContainerState, now, status

REFRESH_S = 1.0
LOOK_S = 0.5
BACKOFF_S = (0.0, 10.0, 20.0, 40.0, 80.0, 160.0, 300.0)
"""Kubelet's pauses before a container is started again (kubernetes.io: pod lifecycle); 10 minutes of running begin anew."""
STEADY_S = 600.0


@dataclass(frozen=True)
class Host:
    """What every pod of the agent shares."""

    api: Api
    table: Table
    state: Path
    service: tuple[str, int]
    bridge: str
    gateway: str
    backoff_scale: float
    pod_address: Callable[[Object], str]
    node_address: Callable[[str], str]
    event: Callable[[Object, str, str, str], None]

    @property
    def pids(self) -> Path:
        return self.state / "pids"


class Main:
    """A container with what drives it."""

    def __init__(self, container: Object, state: ContainerState) -> None:
        self.container, self.state = container, state
        self.process: Process | None = None
        self.prober: Prober | None = None
        self.failures = 0
        self.start_at = 0.0
        self.began = 0.0


class PodWorker:
    def __init__(self, pod: Object, host: Host) -> None:
        self.pod, self.host = pod, host
        meta = pod["metadata"]
        self.uid, self.namespace, self.name = meta["uid"], meta["namespace"], meta["name"]
        self.folder = host.state / "pods" / f"{self.namespace}_{self.name}_{self.uid}"
        self.network: netns.PodNetwork | None = None
        self.address = ""
        self.volumes: dict[str, volumes.Volume] = {}
        self.init = [Main(c, self._state(c, "initContainerStatuses")) for c in pod["spec"].get("initContainers", [])]
        self.mains = [Main(c, self._state(c, "containerStatuses")) for c in pod["spec"]["containers"]]
        self._wake, self._stopping, self._vanished = threading.Event(), threading.Event(), threading.Event()
        self._written: Object = {}
        self._thread = threading.Thread(target=self._run, name=f"{self.namespace}/{self.name}", daemon=True)

    def _state(self, container: Object, key: str) -> ContainerState:
        """A container's state; one that an earlier life of the agent ran counts as restarted."""
        before = next((c for c in self.pod.get("status", {}).get(key, []) if c["name"] == container["name"]), {})
        state = ContainerState(container["name"], container["image"])
        if before.get("containerID"):
            state.restarts = int(before["restartCount"]) + 1
            state.last = before["state"] if "terminated" in before["state"] else {}
        return state

    # -- from outside -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def update(self, pod: Object) -> None:
        self.pod = pod
        if pod["metadata"].get("deletionTimestamp"):
            self._stopping.set()
        self._wake.set()

    def vanish(self) -> None:
        """The pod object, or its node, is gone: end at once and tell nobody."""
        self._vanished.set()
        self._stopping.set()
        self._wake.set()

    def join(self) -> None:
        self._thread.join(timeout=5)

    def log_of(self, container: str, previous: bool) -> tuple[Path, threading.Event] | None:
        main = next((m for m in [*self.init, *self.mains] if m.container["name"] == container), None)
        if main is None:
            return None
        number = main.state.restarts - (1 if previous else 0)
        path = self.folder / container / f"{number}.log"
        running = main.process.running if main.process and not previous else threading.Event()
        return (path, running) if path.exists() else None

    # -- the life -----------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._stopping.is_set() and not self._set_up():
                self._pause()
            next_refresh = 0.0
            while not self._stopping.is_set():
                if time.monotonic() >= next_refresh:
                    self._refresh()
                    next_refresh = time.monotonic() + REFRESH_S
                self._drive()
                self._tell()
                self._pause()
        except Exception:  # noqa: BLE001 one pod's trouble must not end the agent
            traceback.print_exc()
        finally:
            self._end()

    def _pause(self) -> None:
        self._wake.wait(LOOK_S)
        self._wake.clear()

    def _set_up(self) -> bool:
        """Network and volumes; False while something that the pod refers to does not exist."""
        try:
            if self.network is None and not self.pod["spec"].get("hostNetwork"):
                wanted = self.host.pod_address(self.pod)
                self.network = netns.create(self.uid, wanted, self.host.gateway, self.host.bridge)
                self.address = self.network.address
            tokens = volumes.token_source(self.host.api, self.pod)
            for volume in self.pod["spec"].get("volumes", []):
                name = volume["name"]
                if name not in self.volumes:
                    self.volumes[name] = volumes.make(
                        self.pod, volume, self.folder / "volumes" / name, self._lookup, tokens
                    )
                self.volumes[name].refresh()
        except (environment.MissingReference, ValueError) as waiting:
            self.host.event(self.pod, "Warning", "FailedMount", str(waiting))
            return False
        except (netns.NetworkError, client.ApiException, HTTPError, OSError) as error:
            print(f"{self.namespace}/{self.name}: {error}", flush=True)
            return False
        return True

    def _lookup(self, kind: str, name: str) -> Object | None:
        return self.host.api.get(f"/api/v1/namespaces/{self.namespace}/{kind}/{name}")

    def _refresh(self) -> None:
        for volume in self.volumes.values():
            try:
                volume.refresh()
            except (environment.MissingReference, client.ApiException, HTTPError, OSError):
                continue  # what is there stays until the source can be read again

    def _drive(self) -> None:
        """Starts what should run and does not: init containers one after the other, then all others."""
        policy = self.pod["spec"].get("restartPolicy", "Always")
        for main in self.init:
            if main.state.exit_code == 0:
                continue
            self._maybe_start(main, policy if policy != "Always" else "OnFailure")
            return
        for main in self.mains:
            self._maybe_start(main, policy)

    def _maybe_start(self, main: Main, policy: str) -> None:
        if main.process is not None:
            return
        code = main.state.exit_code
        if code is not None and (policy == "Never" or (policy == "OnFailure" and code == 0)):
            return
        if time.monotonic() < main.start_at:
            return
        try:
            self._begin(main, restart=code is not None)
        except environment.MissingReference as waiting:
            main.state.state = {"waiting": {"reason": "CreateContainerConfigError", "message": str(waiting)}}
        except (client.ApiException, HTTPError):
            return

    def _begin(self, main: Main, restart: bool) -> None:
        container, state = main.container, main.state
        image = self.host.table.find(container["image"])
        if image is None:
            raise environment.MissingReference(f"image {container['image']} is no longer in the table")
        self.pod.setdefault("status", {})
        with_address = {
            **self.pod,
            "status": {**self.pod["status"], "podIP": self.address, "hostIP": self._host_address()},
        }
        values = environment.environment(with_address, container, self._base(), self._lookup)
        argv = environment.argv(container, image.entrypoint, values)
        if restart:
            state.last, state.restarts = {"terminated": state.state["terminated"]}, state.restarts + 1
        description = describe(self.pod, container, image, argv, values, self._mounts(container), self.address)
        entering = self.network.entering() if self.network else []
        main.began = time.monotonic()
        main.process = Process(
            description,
            entering,
            self.folder / container["name"],
            state.restarts,
            self.host.pids,
            lambda code: self._ended(main, code),
        )
        state.id, state.state = main.process.id, {"running": {"startedAt": now()}}
        self.host.event(self.pod, "Normal", "Started", f"Started container {container['name']}")
        ports = {p["name"]: int(p["containerPort"]) for p in container.get("ports", []) if "name" in p}
        target = Target(self.address or self._host_address(), ports, main.process.run)
        main.prober = Prober(
            container,
            target,
            lambda started, ready: self._probed(main, started, ready),
            lambda why: self._unhealthy(main, why),
        )
        main.prober.start()

    def _base(self) -> dict[str, str]:
        host, port = self.host.service
        return {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOSTNAME": self.name,
            "HOME": "/root",
            "KUBERNETES_SERVICE_HOST": host,
            "KUBERNETES_SERVICE_PORT": str(port),
            "KUBERNETES_SERVICE_PORT_HTTPS": str(port),
        }

    def _mounts(self, container: Object) -> list[Object]:
        return [
            {
                "source": str(self.volumes[mount["name"]].path(mount.get("subPath", ""))),
                "target": mount["mountPath"],
                "readOnly": mount.get("readOnly", False),
            }
            for mount in container.get("volumeMounts", [])
        ]

    def _host_address(self) -> str:
        return self.host.node_address(self.pod["spec"]["nodeName"])

    # -- what containers and probes report ----------------------------------------------------------------------------

    def _ended(self, main: Main, code: int) -> None:
        if main.prober is not None:
            main.prober.stop()
        ended(main.state, code)
        main.failures = 0 if time.monotonic() - main.began > STEADY_S else main.failures
        main.start_at = time.monotonic() + BACKOFF_S[min(main.failures, len(BACKOFF_S) - 1)] * self.host.backoff_scale
        main.failures += 1
        main.process = None
        if code != 0 and not self._stopping.is_set():
            self.host.event(
                self.pod, "Warning", "BackOff", f"Back-off restarting failed container {main.container['name']}"
            )
        self._wake.set()

    def _probed(self, main: Main, started: bool, ready: bool) -> None:
        main.state.started, main.state.ready = started, ready
        self._wake.set()

    def _unhealthy(self, main: Main, why: str) -> None:
        self.host.event(self.pod, "Warning", "Unhealthy", why)
        if main.process is not None:
            self._terminate(main.process, float(self.pod["spec"].get("terminationGracePeriodSeconds", 30)))

    def _terminate(self, process: Process, grace: float) -> None:
        """SIGTERM, the grace period, SIGKILL. The launcher's parents pass the signal on as one group."""
        process.signal(signal.SIGTERM)
        deadline = time.monotonic() + grace
        while process.running.is_set() and time.monotonic() < deadline and not self._vanished.is_set():
            time.sleep(0.05)
        process.signal(signal.SIGKILL)

    # -- telling and ending -------------------------------------------------------------------------------------------

    def _tell(self) -> None:
        host = self._host_address()
        address = self.address if self.network else host
        told = status(
            self.pod, [m.state for m in self.init], [m.state for m in self.mains], address, host, bool(self.network)
        )
        if told == self._written:
            return
        path = f"/api/v1/namespaces/{self.namespace}/pods/{self.name}/status"
        try:
            self.pod = self.host.api.call("PATCH", path, {"metadata": {"uid": self.uid}, "status": told})
            self._written = told
        except client.ApiException as error:
            if error.status in (404, 409):
                self.vanish()
        except (HTTPError, OSError):
            self._wake.set()

    def _end(self) -> None:
        running = [m for m in [*self.init, *self.mains] if m.process is not None]
        grace = self.pod["metadata"].get(
            "deletionGracePeriodSeconds", self.pod["spec"].get("terminationGracePeriodSeconds", 30)
        )
        for main in running:
            self.host.event(self.pod, "Normal", "Killing", f"Stopping container {main.container['name']}")
        threads = [
            threading.Thread(target=self._terminate, args=(m.process, float(grace)), daemon=True) for m in running
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.network is not None:
            self.network.close()
        shutil.rmtree(self.folder / "volumes", ignore_errors=True)
        if not self._vanished.is_set():
            self._delete()

    def _delete(self) -> None:
        """Tells the API server that nothing of the pod runs any more."""
        path = f"/api/v1/namespaces/{self.namespace}/pods/{self.name}"
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": self.uid},
        }
        for _ in range(60):
            try:
                self.host.api.call("DELETE", path, body)
                return
            except client.ApiException as error:
                if error.status in (404, 409):
                    return
            except (HTTPError, OSError):
                pass
            time.sleep(1)
