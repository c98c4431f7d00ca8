"""A small cluster for one test: etcd, an API server and the rehearsal's kubelet, in namespaces of their own.

Run inside `unshare --user --map-root-user --net --mount --pid`: it brings the cluster up, plays the scenario, and prints what it
saw as JSON on its last line. Being uid 0 of a user namespace only, it also shows that no real root is needed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from rehearsal.control_plane.dns import write_settings
from rehearsal.control_plane.images import default_table
from rehearsal.host.layout import Layout
from rehearsal.host.network import ClusterNetwork, prepare_sandbox
from rehearsal.host.pki import Authority, signing_key
from rehearsal.kubernetes.client import ApiError, Client
from tests.rehearsal.kubelet import scenario, training

NETWORK = ClusterNetwork(0)
TABLE = [{"match": "(^|/)shell:", "program": "/bin/sh", "entrypoint": ["/entry"], "rootfs": "host"}]
WAIT_S = 60.0


def until(check: Callable[[], Any], what: str, seconds: float = WAIT_S) -> Any:
    """The first answer that is true. Raises AssertionError when none comes in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            found = check()
        except (ApiError, OSError):
            found = None
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"waited {seconds:.0f} s for {what}")


class Cluster:
    """`home` holds everything; `programs` is the folder of etcd and the API server."""

    def __init__(self, home: Path, programs: Path) -> None:
        self.home, self.programs, self.pki = home, programs, home / "pki"
        self.kubeconfig, self.state = home / "kubeconfig", home / "state"
        self.agent: subprocess.Popen[bytes] | None = None
        self.others: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        prepare_sandbox()
        NETWORK.create()
        ca = Authority(self.pki, "ca")
        address = NETWORK.control_plane
        ca.issue("apiserver", "kube-apiserver", hosts=[address])
        ca.issue("client", "kube-apiserver-kubelet-client", ["system:masters"])
        ca.issue("kubelet", "system:node:all", ["system:nodes"], hosts=[address])
        signing_key(self.pki / "accounts.key")
        self._start("etcd", "--data-dir", str(self.home / "etcd"), "--unsafe-no-fsync=true", "--log-level=error")
        self._start("kube-apiserver", *[f"--{key}={value}" for key, value in self._api_server().items()])
        names = [
            {"name": "x", "cluster": {"server": f"https://{address}:443", "certificate-authority": self._pem("ca.crt")}}
        ]
        users = [
            {
                "name": "x",
                "user": {"client-certificate": self._pem("client.crt"), "client-key": self._pem("client.key")},
            }
        ]
        contexts = [{"name": "x", "context": {"cluster": "x", "user": "x"}}]
        config = {"clusters": names, "users": users, "contexts": contexts, "current-context": "x"}
        self.kubeconfig.write_text(yaml.safe_dump(config))
        rows = [*TABLE, *default_table(Layout.default())["images"]]
        (self.home / "images.yaml").write_text(yaml.safe_dump({"images": rows}))
        self.client = Client(self.kubeconfig)
        until(lambda: self.client.request("GET", "/api/v1/namespaces/default"), "the API server")

    def _pem(self, name: str) -> str:
        return str(self.pki / name)

    def _api_server(self) -> dict[str, str]:
        return {
            "etcd-servers": "http://127.0.0.1:2379",
            "bind-address": NETWORK.control_plane,
            "secure-port": "443",
            "service-cluster-ip-range": NETWORK.services,
            "authorization-mode": "RBAC",
            "client-ca-file": self._pem("ca.crt"),
            "tls-cert-file": self._pem("apiserver.crt"),
            "tls-private-key-file": self._pem("apiserver.key"),
            "service-account-issuer": "https://rehearsal",
            "service-account-key-file": self._pem("accounts.key"),
            "service-account-signing-key-file": self._pem("accounts.key"),
            "kubelet-preferred-address-types": "InternalIP",
            "kubelet-client-certificate": self._pem("client.crt"),
            "kubelet-client-key": self._pem("client.key"),
        }

    def _start(self, program: str, *words: str) -> None:
        with open(self.home / f"{program}.log", "ab") as log:
            self.others.append(subprocess.Popen([self.programs / program, *words], stdout=log, stderr=log))

    def start_controllers(self) -> None:
        """What makes a Job's pods and the addresses of Services, and the DNS that tells them."""
        self._start("coredns", *write_settings(self.home, NETWORK.gateway, self.kubeconfig))
        words = ("--leader-elect=false", "--controllers=job-controller,endpointslice-controller", "--secure-port=0")
        self._start("kube-controller-manager", f"--kubeconfig={self.kubeconfig}", *words)

    def start_agent(self) -> None:
        words = ["--kubeconfig", self.kubeconfig, "--images", self.home / "images.yaml", "--state", self.state]
        words += ["--kubelet-port", "10250", "--pods-bridge", NETWORK.bridge, "--service-host", NETWORK.control_plane]
        words += [
            "--service-port",
            "443",
            "--serving-cert",
            self._pem("kubelet.crt"),
            "--client-ca",
            self._pem("ca.crt"),
        ]
        words += ["--serving-key", self._pem("kubelet.key")]
        with open(self.home / "kubelet.log", "ab") as log:
            command = [sys.executable, "-m", "rehearsal.kubelet", *map(str, words)]
            self.agent = subprocess.Popen(command, stdout=log, stderr=log)

    def end_agent(self, number: signal.Signals) -> None:
        assert self.agent is not None
        self.agent.send_signal(number)
        self.agent.wait(15)

    def fetch(self, url: str) -> str:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return str(answer.read().decode())

    def log(self, name: str, **query: str) -> str:
        words = "&".join(f"{key}={value}" for key, value in query.items())
        answer = self.client.pool.request("GET", f"{self.client.server}/api/v1/namespaces/t/pods/{name}/log?{words}")
        return answer.data.decode()

    def processes(self) -> list[str]:
        """The command lines of all processes in the sandbox but this one's, etcd, the API server and the agent."""
        known = {os.getpid(), 1, *(process.pid for process in self.others), self.agent.pid if self.agent else 0}
        entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdigit() and int(entry.name) not in known]
        lines = []
        for entry in entries:
            try:
                lines.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return [line for line in lines if line]

    def gateway(self) -> str:
        """The hardware address that the pods know their gateway by."""
        command = ["ip", "-j", "link", "show", "dev", NETWORK.bridge]
        return str(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)[0]["address"])

    def interfaces(self) -> int:
        done = subprocess.run(["ip", "-o", "link", "show", "type", "veth"], capture_output=True, text=True, check=True)
        return len(done.stdout.splitlines())


def main() -> None:
    cluster = Cluster(Path(sys.argv[1]), Path(sys.argv[2]))
    cluster.start()
    play = {"life": scenario.play, "training": training.play}[sys.argv[3]]
    print(json.dumps(play(cluster)))


if __name__ == "__main__":
    main()
