"""GKE's RayOperator add-on: what switching it on puts into a cluster, and what switching it off takes out.

GKE hosts KubeRay's operator beside the control plane, not on the cluster's nodes: the cluster has KubeRay's resource
definitions and no operator Deployment (kuberay issue 3115 and pull request 5151). So here the real operator is a program of
the control plane, and it needs no node. As it is outside of the cluster's network it reaches Ray's heads through the API
server's proxy of Services, for which KubeRay has `--use-kubernetes-proxy`.
The add-on brings the Ray TPU webhook too (docs.ray.io, "Use TPUs with KubeRay"). How GKE names the users, roles and webhooks,
and whether it keeps the definitions when the add-on is switched off, is not documented: the names are those of the public
projects, and here all of it goes, custom resources first, as long as the operator is there to take its finalizers off.
"""

from __future__ import annotations

import hashlib
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client
from urllib3.exceptions import HTTPError

from rehearsal.gcp.core import CloudState
from rehearsal.gke.ray import objects
from rehearsal.gke.ray.objects import OPERATOR, WEBHOOK
from rehearsal.host import supervisor
from rehearsal.host.layout import Layout
from rehearsal.host.network import ClusterNetwork
from rehearsal.host.pki import Authority
from rehearsal.kubernetes import kubeconfig
from rehearsal.kubernetes.kubeapi import KubeApi
from rehearsal.wait import wait_until

MANAGER = "gke-addon-manager"
CREATE_TIMEOUT_S = 90.0
REMOVE_TIMEOUT_S = 180.0
POLL_S = 0.2
METRICS_PORT, PROBE_PORT, WEBHOOK_PORT = 8080, 8082, 9443
"""On the control plane's address; the first two are KubeRay's own defaults."""


def follow(world: CloudState, name: str) -> None:
    """Makes the add-on of the cluster of that full name what the cluster's record says, and waits for it. Idempotent.

    Without a backend there is nothing to do. Raises TimeoutError, and what KubeApi raises.
    """
    cluster = world.store.get("clusters", name)
    if world.settings.backend is None or cluster is None or "_kubeconfig" not in cluster:
        return
    addon = AddOn(Path(cluster["_kubeconfig"]).parent, cluster["_index"])
    if cluster["addonsConfig"].get("rayOperatorConfig", {}).get("enabled", False):
        addon.install()
    elif addon.installed:
        addon.remove()


class AddOn:
    """The add-on of one cluster: `folder` is where the cluster's files are, `index` its number."""

    def __init__(self, folder: Path, index: int) -> None:
        self.cluster, self.folder = folder, folder / "ray-operator"
        self.layout, self.address = Layout(folder.parents[1]), ClusterNetwork(index).control_plane
        self.authority = Authority(folder / "pki", "cluster-ca")
        self.api = KubeApi(folder / "admin.kubeconfig")
        shipped = self.layout.charts / "kuberay-operator"
        self.role, self.definitions = shipped / "files/role.yaml", sorted((shipped / "crds").glob("ray.io_*.yaml"))

    @property
    def installed(self) -> bool:
        return self.folder.exists()

    def install(self) -> None:
        self.folder.mkdir(exist_ok=True)
        supervisor.start_unit(self.layout, *self._webhook())
        self._define()
        for path, body in self._rights():
            self._apply(path, body)
        wait_until("the Ray TPU webhook", CREATE_TIMEOUT_S, self._webhook_listens, pause=POLL_S)
        for path, body in self._registrations():
            self._apply(path, body)
        supervisor.start_unit(self.layout, *self._operator())

    def remove(self) -> None:
        """Ends the add-on: custom resources and definitions while the operator still runs, then everything else."""
        if self._served():
            self._clear()
            wait_until("the end of Ray's objects", REMOVE_TIMEOUT_S, self._cleared, pause=POLL_S)
        for file in self.definitions:
            self._delete(objects.definition(file))
        wait_until("the end of Ray's definitions", REMOVE_TIMEOUT_S, self._undefined, pause=POLL_S)
        for path, _ in [*self._registrations(), *self._rights()]:
            self._delete(path)
        supervisor.stop_units(self.layout, [self._unit(OPERATOR), self._unit(WEBHOOK)])
        shutil.rmtree(self.folder)

    def _rights(self) -> list[objects.Placed]:
        rules: list[objects.Object] = yaml.safe_load(self.role.read_text())["rules"]
        return objects.rights(rules)

    # -- the programs -------------------------------------------------------------------------------------------------

    def _unit(self, program: str) -> str:
        return f"{program}-{self.cluster.name}"

    def _kubeconfig(self, program: str) -> Path:
        endpoint = f"https://{self.address}:443"
        return kubeconfig.write(self.folder, endpoint, self.authority, program, objects.user(program))

    def _operator(self) -> tuple[str, list[str]]:
        """KubeRay's operator. There is one, so it need not be elected, and one that was killed goes on at once."""
        return self._unit(OPERATOR), [
            str(self.layout.bin / "kuberay"),
            f"--kubeconfig={self._kubeconfig(OPERATOR)}",
            f"--metrics-addr={self.address}:{METRICS_PORT}",
            f"--health-probe-bind-address={self.address}:{PROBE_PORT}",
            "--enable-leader-election=false",
            "--use-kubernetes-proxy=true",
        ]

    def _webhook(self) -> tuple[str, list[str], dict[str, str]]:
        certificate, key = self.authority.issue(f"{WEBHOOK}-serving", WEBHOOK, hosts=[self.address])
        command = [sys.executable, "-m", "rehearsal.gke.ray.webhook", "--kubeconfig", str(self._kubeconfig(WEBHOOK))]
        command += [
            "--address",
            self.address,
            "--port",
            str(WEBHOOK_PORT),
            "--cert",
            str(certificate),
            "--key",
            str(key),
        ]
        return self._unit(WEBHOOK), command, {"PYTHONPATH": str(self.layout.checkout)}

    def _webhook_listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self.address, WEBHOOK_PORT)) == 0

    # -- the cluster's objects ----------------------------------------------------------------------------------------

    def _define(self) -> None:
        """Brings KubeRay's definitions in, unless these very ones are served: together they are four megabytes."""
        texts = [file.read_text() for file in self.definitions]
        mark, digest = self.folder / "definitions", hashlib.sha256("".join(texts).encode()).hexdigest()
        if mark.exists() and mark.read_text() == digest and self._served():
            return
        for file, text in zip(self.definitions, texts, strict=True):
            self._apply(objects.definition(file), text)
        wait_until("KubeRay's resource definitions", CREATE_TIMEOUT_S, self._served, pause=POLL_S)
        mark.write_text(digest)

    def _registrations(self) -> list[objects.Placed]:
        return objects.webhooks(f"{self.address}:{WEBHOOK_PORT}", self.authority.certificate_file.read_text())

    def _apply(self, path: str, body: Any) -> None:
        """Server-side apply, without the limit of 262144 bytes that a client's own record of the object would set.

        It is tried again when a busy API server does not answer in time.
        """

        def applied() -> bool:
            try:
                self.api.call("PATCH", path, body, {"fieldManager": MANAGER, "force": "true"}, patch="apply")
            except HTTPError:
                return False
            return True

        wait_until(path, CREATE_TIMEOUT_S, applied, pause=POLL_S)

    def _delete(self, path: str) -> None:
        def deleted() -> bool:
            try:
                self.api.call("DELETE", path)
            except client.ApiException as error:
                if error.status != 404:
                    raise
            except HTTPError:
                return False
            return True

        wait_until(path, REMOVE_TIMEOUT_S, deleted, pause=POLL_S)

    def _offered(self) -> set[str]:
        """Those of Ray's kinds that the API server offers (asked by discovery: the definitions themselves are megabytes)."""
        found = {resource["name"] for resource in (self.api.get("/apis/ray.io/v1") or {}).get("resources") or []}
        return found & self._kinds

    @property
    def _kinds(self) -> set[str]:
        return {objects.plural(file) for file in self.definitions}

    def _served(self) -> bool:
        return self._offered() == self._kinds

    def _undefined(self) -> bool:
        return not self._offered() and all(self.api.get(objects.definition(f)) is None for f in self.definitions)

    def _clear(self) -> None:
        """Deletes all of Ray's objects, owners first; what they own goes with them."""
        for kind in objects.OWNERS_FIRST:
            for item in self.api.list(f"/apis/ray.io/v1/{kind}"):
                metadata = item["metadata"]
                self._delete(f"/apis/ray.io/v1/namespaces/{metadata['namespace']}/{kind}/{metadata['name']}")

    def _cleared(self) -> bool:
        return not any(self.api.list(f"/apis/ray.io/v1/{kind}") for kind in objects.OWNERS_FIRST)
