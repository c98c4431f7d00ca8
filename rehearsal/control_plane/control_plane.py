"""Runs a GKE cluster's control plane and what stands for its nodes' system software, as programs of the sandbox.

Implements what the stand-in for GKE asks of a backend: `start` a cluster's control plane and `stop` it. Everything a cluster
needs lies in one folder below the rehearsal's state, and its programs are units of the supervisor named `<program>-<cluster>`.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rehearsal.control_plane.dns import write_settings
from rehearsal.control_plane.kwok_stages import render
from rehearsal.errors import ControlPlaneError
from rehearsal.gke.admission import builtin
from rehearsal.host import supervisor
from rehearsal.host.layout import Layout
from rehearsal.host.network import GOOGLE, MOST_CLUSTERS, ClusterNetwork
from rehearsal.host.pki import Authority, signing_key
from rehearsal.host.programs import KUBERNETES_VERSION
from rehearsal.kubernetes import kubeconfig
from rehearsal.kubernetes.image_table import read_table
from rehearsal.wait import wait_until

READY_TIMEOUT_S = 60.0
POLL_S = 0.05


@dataclass(frozen=True)
class ControlPlaneHandle:
    """A running control plane. `address` serves the API on port 443; `ca_pem` is the authority that signed its certificate."""

    index: int
    address: str
    ca_pem: str
    kubeconfig: Path
    version: str


def token(layout: Layout) -> str:
    """The access token of the rehearsal's one Google user, which `gke-gcloud-auth-plugin` hands to clusters."""
    path = layout.root / "token"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(32))
    return path.read_text()


class ControlPlanes:
    """The control planes of one rehearsal."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.version = KUBERNETES_VERSION

    # -- the backend's two verbs --------------------------------------------------------------------------------------

    def start(self, cluster_id: str) -> ControlPlaneHandle:
        """Starts a cluster's control plane and waits until it answers. Idempotent; an earlier run's data is kept."""
        index = self._index(cluster_id)
        network = ClusterNetwork(index)
        network.create()
        plane = _Plane(self.layout, self.folder(cluster_id), cluster_id, network)
        plane.write_files()
        started = time.monotonic()
        supervisor.start_unit(self.layout, *plane.etcd())
        supervisor.start_unit(self.layout, *plane.apiserver())
        plane.await_ready()
        plane.await_builtin()
        for unit in (
            plane.controller_manager(),
            plane.scheduler(),
            plane.dns(),
            plane.kwok(),
            plane.kubelet(),
            plane.ray(),
        ):
            supervisor.start_unit(self.layout, *unit)
        print(f"control plane of {cluster_id} up in {time.monotonic() - started:.1f} s", flush=True)
        return ControlPlaneHandle(
            index, network.control_plane, plane.ca.certificate_file.read_text(), plane.kubeconfig, self.version
        )

    def stop(self, cluster_id: str) -> None:
        """Ends a cluster's control plane and deletes its data. Idempotent."""
        folder = self.folder(cluster_id)
        if not folder.exists():
            return
        short = _short(cluster_id)
        mine = [name for name in supervisor.units(self.layout) if name.endswith(f"-{short}")]
        order = ("kubelet", "kwok", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd")
        last = [f"{program}-{short}" for program in order]
        addons = [name for name in mine if name not in last]
        supervisor.stop_units(self.layout, addons + [name for name in last if name in mine])
        ClusterNetwork(self._index(cluster_id)).remove()
        shutil.rmtree(folder)

    # -- where a cluster lives ----------------------------------------------------------------------------------------

    def folder(self, cluster_id: str) -> Path:
        return self.layout.clusters / _short(cluster_id)

    def _index(self, cluster_id: str) -> int:
        """The cluster's number, fixed when it is first started: the lowest that no other cluster has."""
        path = self.folder(cluster_id) / "index"
        if path.exists():
            return int(path.read_text())
        taken = {int(p.read_text()) for p in self.layout.clusters.glob("*/index")}
        free = next((n for n in range(MOST_CLUSTERS) if n not in taken), None)
        if free is None:
            raise ControlPlaneError(f"a rehearsal holds at most {MOST_CLUSTERS} clusters")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(free))
        return free


class _Plane:
    """The files and command lines of one control plane."""

    def __init__(self, layout: Layout, folder: Path, cluster_id: str, network: ClusterNetwork) -> None:
        self.layout, self.folder, self.cluster_id, self.network = layout, folder, cluster_id, network
        self.short = _short(cluster_id)
        self.pki = folder / "pki"
        self.address = network.control_plane
        self.endpoint = f"https://{self.address}:443"
        self.kubeconfig = folder / "admin.kubeconfig"

    def write_files(self) -> None:
        self.ca = Authority(self.pki, "cluster-ca")
        self.front_proxy = Authority(self.pki, "front-proxy-ca")
        self.etcd_ca = Authority(self.pki, "etcd-ca")
        signing_key(self.pki / "service-account.key")
        hosts = [
            self.address, "127.0.0.1", "localhost", self.network.first_service,
            "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
        ]  # fmt: skip
        self.ca.issue("apiserver", "kube-apiserver", hosts=hosts)
        self.ca.issue("kubelet-client", "kube-apiserver-kubelet-client", ["system:masters"])
        self.ca.issue("kubelet", "system:node:all", ["system:nodes"], hosts=[self.address, "127.0.0.1", "localhost"])
        self.front_proxy.issue("front-proxy-client", "front-proxy-client")
        self.etcd_ca.issue("etcd", "etcd", hosts=[self.address, self.network.peer])
        self.etcd_ca.issue("etcd-client", "kube-apiserver-etcd-client")
        self._kubeconfig("admin", "kubernetes-admin", ["system:masters"])
        self._kubeconfig("controller-manager", "system:kube-controller-manager", [])
        self._kubeconfig("scheduler", "system:kube-scheduler", [])
        self._kubeconfig("nodes", "system:nodes-software", ["system:masters"])
        tokens = self.pki / "tokens.csv"
        tokens.touch(mode=0o600)
        tokens.write_text(f"{token(self.layout)},rehearsal@example.com,rehearsal,system:masters\n")
        patterns, duration = read_table(self.layout)
        (self.folder / "stages.yaml").write_text(render(patterns, duration))

    def _kubeconfig(self, name: str, user: str, groups: list[str]) -> None:
        kubeconfig.write(self.folder, self.endpoint, self.ca, name, user, groups)

    def _file(self, name: str) -> str:
        return str(self.pki / name)

    def _unit(self, program: str, flags: dict[str, object], *words: str) -> tuple[str, list[str]]:
        arguments = [f"--{key}={_flag(value)}" for key, value in flags.items()]
        return f"{program}-{self.short}", [str(self.layout.bin / program), *words, *arguments]

    def etcd(self) -> tuple[str, list[str]]:
        client, peer = f"https://{self.address}:2379", f"http://{self.network.peer}:2380"
        return self._unit("etcd", {
            "name": "rehearsal", "data-dir": self.folder / "etcd", "unsafe-no-fsync": True, "log-level": "warn",
            "listen-client-urls": client, "advertise-client-urls": client,
            "listen-peer-urls": peer, "initial-advertise-peer-urls": peer, "initial-cluster": f"rehearsal={peer}",
            "cert-file": self._file("etcd.crt"), "key-file": self._file("etcd.key"),
            "client-cert-auth": True, "trusted-ca-file": self._file("etcd-ca.crt"),
        })  # fmt: skip

    def apiserver(self) -> tuple[str, list[str]]:
        return self._unit("kube-apiserver", {
            "etcd-servers": f"https://{self.address}:2379", "etcd-cafile": self._file("etcd-ca.crt"),
            "etcd-certfile": self._file("etcd-client.crt"), "etcd-keyfile": self._file("etcd-client.key"),
            "bind-address": self.address, "advertise-address": self.address, "secure-port": 443,
            "service-cluster-ip-range": self.network.services, "authorization-mode": "Node,RBAC", "allow-privileged": True,
            "client-ca-file": self._file("cluster-ca.crt"), "token-auth-file": self._file("tokens.csv"),
            "tls-cert-file": self._file("apiserver.crt"), "tls-private-key-file": self._file("apiserver.key"),
            "service-account-issuer": self.endpoint, "service-account-key-file": self._file("service-account.key"),
            "service-account-signing-key-file": self._file("service-account.key"),
            "requestheader-client-ca-file": self._file("front-proxy-ca.crt"), "requestheader-allowed-names": "front-proxy-client",
            "requestheader-extra-headers-prefix": "X-Remote-Extra-", "requestheader-group-headers": "X-Remote-Group",
            "requestheader-username-headers": "X-Remote-User",
            "proxy-client-cert-file": self._file("front-proxy-client.crt"), "proxy-client-key-file": self._file("front-proxy-client.key"),
            "enable-aggregator-routing": True, "kubelet-preferred-address-types": "InternalIP",
            "kubelet-client-certificate": self._file("kubelet-client.crt"), "kubelet-client-key": self._file("kubelet-client.key"),
        })  # fmt: skip

    def controller_manager(self) -> tuple[str, list[str]]:
        config = self.folder / "controller-manager.kubeconfig"
        return self._unit("kube-controller-manager", {
            "kubeconfig": config, "authentication-kubeconfig": config, "authorization-kubeconfig": config,
            "bind-address": self.address, "leader-elect": False, "use-service-account-credentials": True,
            "root-ca-file": self._file("cluster-ca.crt"), "service-account-private-key-file": self._file("service-account.key"),
            "cluster-signing-cert-file": self._file("cluster-ca.crt"), "cluster-signing-key-file": self._file("cluster-ca.key"),
        })  # fmt: skip

    def scheduler(self) -> tuple[str, list[str]]:
        config = self.folder / "scheduler.kubeconfig"
        return self._unit("kube-scheduler", {
            "kubeconfig": config, "authentication-kubeconfig": config, "authorization-kubeconfig": config,
            "bind-address": self.address, "leader-elect": False,
        })  # fmt: skip

    def dns(self) -> tuple[str, list[str]]:
        words = write_settings(self.folder, self.network.gateway, self.folder / "nodes.kubeconfig")
        return self._unit("coredns", {}, *words)

    def kwok(self) -> tuple[str, list[str]]:
        return self._unit("kwok", {
            "kubeconfig": self.folder / "nodes.kubeconfig", "config": self.folder / "stages.yaml", "manage-all-nodes": True,
            "cidr": f"10.{64 + self.network.index}.250.0/24", "node-lease-duration-seconds": 40,
            "server-address": f"{self.address}:10247", "v": "WARN",
        })  # fmt: skip

    def kubelet(self) -> tuple[str, list[str], dict[str, str]]:
        flags: dict[str, object] = {
            "kubeconfig": self.folder / "nodes.kubeconfig", "images": self.layout.images, "state": self.folder / "kubelet",
            "kubelet-port": self.network.kubelet_port, "pods-bridge": self.network.bridge,
            "gateway": self.network.gateway,
            "service-host": self.address, "service-port": 443, "serving-cert": self._file("kubelet.crt"),
            "serving-key": self._file("kubelet.key"), "client-ca": self._file("cluster-ca.crt"),
            "google": GOOGLE, "cluster": self.cluster_id, "buckets": self.layout.buckets,
        }  # fmt: skip
        return self._python("kubelet", "rehearsal.kubelet", flags)

    def ray(self) -> tuple[str, list[str], dict[str, str]]:
        config = self.folder / "nodes.kubeconfig"
        return self._python(
            "ray",
            "rehearsal.gke.ray.simulator",
            {"home": self.layout.root, "kubeconfig": config, "state": self.folder / "ray"},
        )

    def _python(self, name: str, module: str, flags: dict[str, object]) -> tuple[str, list[str], dict[str, str]]:
        words = [word for key, value in flags.items() for word in (f"--{key}", str(value))]
        command = [sys.executable, "-m", module, *words]
        return f"{name}-{self.short}", command, {"PYTHONPATH": str(self.layout.checkout)}

    def await_builtin(self) -> None:
        """Waits until what GKE builds into a cluster is there. Raises ControlPlaneError."""
        names = {f"{program}-{self.short}" for program in ("etcd", "kube-apiserver")}
        definitions = self.layout.definitions
        _await(lambda: builtin.install(self.kubeconfig, definitions), lambda: _explain(self.layout, names))

    def await_ready(self) -> None:
        """Waits for the API server's own readiness check. Raises ControlPlaneError with the last lines of what keeps failing."""
        context = ssl.create_default_context(cafile=self._file("cluster-ca.crt"))
        context.load_cert_chain(self._file("admin.crt"), self._file("admin.key"))
        names = {f"{program}-{self.short}" for program in ("etcd", "kube-apiserver")}

        def answers() -> bool:
            try:
                return bool(urllib.request.urlopen(f"{self.endpoint}/readyz", context=context, timeout=5).status == 200)
            except (urllib.error.URLError, OSError):
                return False

        _await(answers, lambda: _explain(self.layout, names))


def _await(answers: Callable[[], bool], explain: Callable[[], str]) -> None:
    try:
        wait_until("the control plane", READY_TIMEOUT_S, answers, pause=POLL_S)
    except TimeoutError:
        text = f"the control plane did not answer within {READY_TIMEOUT_S:.0f} s\n{explain()}"
        raise ControlPlaneError(text) from None


def _explain(layout: Layout, names: set[str]) -> str:
    failing = [unit for name, unit in supervisor.units(layout).items() if name in names and unit["deaths"]]
    return "\n".join(
        f"{unit['name']} died: {unit['last_death']}\n    " + "\n    ".join(unit["last_lines"]) for unit in failing
    )


def _short(cluster_id: str) -> str:
    """A name for files and units: the cluster's own name with a short hash of the whole id."""
    words = re.sub(r"[^a-z0-9-]+", "-", cluster_id.rsplit("/", 1)[-1].lower()).strip("-")
    return f"{words[:40]}-{hashlib.sha256(cluster_id.encode()).hexdigest()[:6]}"


def _flag(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def backend_from_environment() -> ControlPlanes:
    """The backend of the rehearsal that REHEARSAL_HOME names."""
    return ControlPlanes(Layout(Path(os.environ["REHEARSAL_HOME"])))
