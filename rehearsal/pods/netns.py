"""A pod's own network: a namespace held by a process that only waits, and a cable to the cluster's bridge."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from dataclasses import dataclass

HOLDER = ("unshare", "--net", "--", "sleep", "infinity")


class NetworkError(Exception):
    """A pod's network could not be made."""


@dataclass(frozen=True)
class PodNetwork:
    """The network of one pod: the process that holds it and its address."""

    holder: subprocess.Popen[bytes]
    link: str
    address: str

    def entering(self) -> list[str]:
        """The start of a command line that runs in this network."""
        return ["nsenter", f"--net=/proc/{self.holder.pid}/ns/net", "--"]

    def close(self) -> None:
        self.holder.kill()
        self.holder.wait()
        subprocess.run(["ip", "link", "delete", self.link], capture_output=True, check=False)


def link_name(uid: str) -> str:
    return "v" + hashlib.sha256(uid.encode()).hexdigest()[:12]


def create(uid: str, address: str, gateway: str, bridge: str) -> PodNetwork:
    """Makes a pod's network. `address` has its prefix length, `gateway` none. Raises NetworkError."""
    link = link_name(uid)
    subprocess.run(["ip", "link", "delete", link], capture_output=True, check=False)
    holder = subprocess.Popen(HOLDER, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        _await_namespace(holder.pid)
        _run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        _run("ip", "link", "set", link, "master", bridge, "up")
        inside = f"ip link set lo up && ip addr add {address} dev eth0 && ip link set eth0 up && ip route add default via {gateway}"
        _run("nsenter", f"--net=/proc/{holder.pid}/ns/net", "--", "sh", "-c", inside)
    except NetworkError:
        holder.kill()
        holder.wait()
        raise
    return PodNetwork(holder, link, address.split("/")[0])


def _await_namespace(pid: int) -> None:
    """Waits until the holder has left our namespace."""
    ours, deadline = os.readlink("/proc/self/ns/net"), time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if os.readlink(f"/proc/{pid}/ns/net") != ours:
                return
        except OSError:
            break
        time.sleep(0.005)
    raise NetworkError("the process that holds a pod's network did not start")


def _run(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NetworkError(f"{' '.join(argv)}: {done.stderr.strip()}")


def remove_all(bridge: str) -> None:
    """Takes away the cables that an earlier life of the agent left on the bridge."""
    shown = subprocess.run(
        ["ip", "-json", "link", "show", "master", bridge], capture_output=True, text=True, check=False
    )
    for link in json.loads(shown.stdout or "[]"):
        subprocess.run(["ip", "link", "delete", link["ifname"]], capture_output=True, check=False)
