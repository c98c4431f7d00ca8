"""The network of one pod: its address, written down so that it outlives the agent, and the process that holds it.

A `hostNetwork` pod has one of its own too: all nodes of a rehearsal share one network, in which two such pods could not both have
the same port, as they can on two nodes.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from rehearsal.kubelet.containers.process import MARK
from rehearsal.kubelet.network import namespace
from rehearsal.kubelet.pods.context import Context

FILE = "sandbox.json"
GIVEN = "addresses"
"""In the agent's state folder: every address that it ever gave, one a line."""


def written_address(folder: Path) -> str | None:
    """The address that the pod of this folder has."""
    try:
        return str(json.loads((folder / FILE).read_text())["address"])
    except (OSError, ValueError, KeyError):
        return None


class PodNetwork:
    """Made by `ensure`, undone by `remove`; both may be called again."""

    def __init__(self, context: Context, folder: Path, pod: dict[str, Any]) -> None:
        self.context, self.folder, self.uid = context, folder, pod["metadata"]["uid"]
        self.node = str(pod["spec"].get("nodeName", ""))
        self.holder: subprocess.Popen[bytes] | None = None
        self.address = ""

    @property
    def up(self) -> bool:
        return self.holder is not None and self.holder.poll() is None

    @property
    def pid(self) -> int | None:
        """The process whose network the containers join."""
        return None if self.holder is None else self.holder.pid

    def ensure(self) -> None:
        """Raises PodNetworkError."""
        if self.up:
            return
        node = self.context.node(self.node)
        if node is None:
            raise namespace.PodNetworkError(f"node {self.node} is not there")
        self.address = self._choose(node)
        holder = namespace.hold({MARK: str(self.context.state)})
        try:
            namespace.connect(holder.pid, self.uid, self.address, self.context.bridge, self.context.gateway)
        except BaseException:
            holder.kill()
            holder.wait()
            raise
        self.holder = holder

    def _choose(self, node: dict[str, Any]) -> str:
        cidr = node["spec"].get("podCIDR")
        if not cidr:
            raise namespace.PodNetworkError(f"node {self.node} has no podCIDR")
        with self.context.addresses:
            kept = written_address(self.folder)
            if kept is not None:
                return kept
            address = self._never_given(str(cidr))
            temporary = self.folder / f"{FILE}.new"
            temporary.write_text(json.dumps({"address": address}))
            os.replace(temporary, self.folder / FILE)
            return address

    def _never_given(self, cidr: str) -> str:
        """An address that no pod has, and that the agent has not given before: kwok takes the address of any pod that goes
        for one of its own to give, and then two pods would have it. Only when all were given is one given again."""
        ours = {written_address(folder) for folder in self.context.pods.iterdir()} - {None}
        taken = {address for address in ours if address} | self.context.pod_addresses()
        ledger = self.context.state / GIVEN
        given = ledger.read_text().split() if ledger.exists() else []
        try:
            address = namespace.free_address(cidr, {*taken, *given})
        except namespace.PodNetworkError:
            return namespace.free_address(cidr, taken)
        with ledger.open("a") as lines:
            lines.write(f"{address}\n")
        return address

    def remove(self) -> None:
        """Ends the network and gives the address back."""
        if self.holder is not None:
            self.holder.kill()
            self.holder.wait()
            self.holder = None
        namespace.disconnect(self.uid)
        with contextlib.suppress(FileNotFoundError):
            (self.folder / FILE).unlink()
