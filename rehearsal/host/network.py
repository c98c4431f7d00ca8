"""Addresses of the sandbox. Each cluster has its own, so that several can live side by side.

Node addresses are made local as a whole range: whatever listens on all addresses answers on each node's own, as a kubelet does.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

MOST_CLUSTERS = 60
GOOGLE_PORT = 8085
_NAME_SERVICES = Path("/etc/nsswitch.conf")
GOOGLE = f"http://127.0.0.1:{GOOGLE_PORT}"
"""Where Google's APIs answer inside."""


@dataclass(frozen=True)
class ClusterNetwork:
    """The addresses of cluster number `index` (0 to 59)."""

    index: int

    @property
    def control_plane(self) -> str:
        """Where the control plane answers: the API server on 443, the rest on ports of their own."""
        return f"172.16.{self.index}.2"

    @property
    def peer(self) -> str:
        """A loopback address for etcd's peer port, which nothing dials."""
        return f"127.0.{self.index}.2"

    @property
    def nodes(self) -> str:
        return f"10.{128 + self.index}.0.0/16"

    @property
    def pods(self) -> str:
        return f"10.{64 + self.index}.0.0/16"

    @property
    def bridge(self) -> str:
        return f"pods{self.index}"

    @property
    def bridge_address(self) -> str:
        return f"10.{64 + self.index}.0.1/16"

    @property
    def gateway(self) -> str:
        """The bridge's own address: the way out of a pod, and where the cluster's DNS answers."""
        return self.bridge_address.split("/")[0]

    @property
    def services(self) -> str:
        """GKE's default range for Services (cloud.google.com/kubernetes-engine/docs/concepts/alias-ips)."""
        return "34.118.224.0/20"

    @property
    def first_service(self) -> str:
        return "34.118.224.1"

    @property
    def bridge_mac(self) -> str:
        """Stated: left to itself a bridge takes the lowest one among its ports, another one whenever a pod comes or goes, and no other
        pod reaches its gateway, or answers, until it has learned that."""
        return f"02:00:00:00:{self.index:02x}:01"

    @property
    def kubelet_port(self) -> int:
        return 10250 + self.index

    def create(self) -> None:
        """Sets the addresses up; what is there already stays."""
        _ip("addr", "replace", f"{self.control_plane}/32", "dev", "lo")
        _ip("route", "replace", "local", self.nodes, "dev", "lo")
        if subprocess.run(["ip", "link", "show", self.bridge], capture_output=True, check=False).returncode != 0:
            _ip("link", "add", self.bridge, "address", self.bridge_mac, "type", "bridge")
        _ip("addr", "replace", self.bridge_address, "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")

    def remove(self) -> None:
        subprocess.run(["ip", "link", "delete", self.bridge], capture_output=True, check=False)
        subprocess.run(["ip", "route", "delete", "local", self.nodes, "dev", "lo"], capture_output=True, check=False)
        subprocess.run(
            ["ip", "addr", "delete", f"{self.control_plane}/32", "dev", "lo"], capture_output=True, check=False
        )


def prepare_sandbox() -> None:
    """Sets up a new sandbox: loopback is up, the machine's services in /run are hidden, and name look-ups fail at once."""
    _ip("link", "set", "lo", "up")
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    _answer_names_from_files()


def _answer_names_from_files() -> None:
    """Resolves names from /etc/hosts only, so that every other name is reported as unknown without delay.

    With a name server that cannot be reached a look-up fails as temporary, and clients repeat it: pulumi-resource-gcp does so
    for five minutes (its configure requests openidconnect.googleapis.com). glibc and Go both follow nsswitch.conf(5).
    """
    if not _NAME_SERVICES.is_file():
        return
    own = Path("/run/nsswitch.conf")
    own.write_text(_with_hosts_from_files(_NAME_SERVICES.read_text()))
    subprocess.run(["mount", "--bind", str(own), str(_NAME_SERVICES)], check=True)


def _with_hosts_from_files(text: str) -> str:
    """The content of nsswitch.conf with `files` as the only source of host names."""
    others = [line for line in text.splitlines() if not re.match(r"\s*hosts\s*:", line)]
    return "\n".join([*others, "hosts: files"]) + "\n"


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
