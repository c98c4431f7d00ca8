"""A pod's network: a namespace of its own, held open by a process that sleeps, with an address on the cluster's bridge."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import subprocess
import time
from collections.abc import Iterable

HELD_TIMEOUT_S = 10.0


class PodNetworkError(Exception):
    """The pod's network could not be made (FailedCreatePodSandBox)."""


def free_address(cidr: str, taken: Iterable[str]) -> str:
    """The highest address of a node's range that no pod has.

    kwok counts upwards for the pods it simulates on the same node, so counting downwards keeps the two apart. Raises PodNetworkError.
    """
    network = ipaddress.ip_network(cidr)
    used = set(taken)
    for offset in range(network.num_addresses - 2, 1, -1):
        address = str(network[offset])
        if address not in used:
            return address
    raise PodNetworkError(f"no address of {cidr} is free")


def interface(uid: str) -> str:
    """The name of the pod's end at the bridge; the kernel allows 15 characters."""
    return "veth" + hashlib.sha256(uid.encode()).hexdigest()[:8]


def _run(*words: str, text: str | None = None) -> None:
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise PodNetworkError(f"{' '.join(words)}: {done.stderr.strip()}")


def _namespace(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")


def hold(mark: dict[str, str]) -> subprocess.Popen[bytes]:
    """Starts the process that keeps a new network namespace alive; `mark` is its environment. Raises PodNetworkError."""
    process = subprocess.Popen(
        ["unshare", "--net", "--", "sleep", "infinity"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, **mark},
    )
    deadline = time.monotonic() + HELD_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if _namespace(process.pid) != _namespace(os.getpid()):
                return process
        except OSError:
            break
        time.sleep(0.01)
    process.kill()
    process.wait()
    raise PodNetworkError("a network namespace could not be made")


def connect(pid: int, uid: str, address: str, bridge: str, gateway: ipaddress.IPv4Interface) -> None:
    """Connects the namespace of process `pid` to the bridge, under `address`. Raises PodNetworkError."""
    outer = interface(uid)
    disconnect(uid)
    _run("ip", "link", "add", outer, "master", bridge, "type", "veth", "peer", "name", "eth0", "netns", str(pid))
    _run("ip", "link", "set", outer, "up")
    steps = [
        "link set lo up",
        f"address add {address}/{gateway.network.prefixlen} dev eth0",
        "link set eth0 up",
        f"route add default via {gateway.ip}",
    ]
    _run("nsenter", f"--target={pid}", "--net", "--", "ip", "-batch", "-", text="\n".join(steps) + "\n")


def bridge_address(bridge: str) -> ipaddress.IPv4Interface:
    """The bridge's own address, which is the pods' gateway. Raises PodNetworkError."""
    words = ["ip", "-4", "-o", "address", "show", "dev", bridge]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    fields = done.stdout.split()
    if "inet" not in fields:
        raise PodNetworkError(f"{bridge} has no address: {done.stderr.strip()}")
    return ipaddress.ip_interface(fields[fields.index("inet") + 1])  # type: ignore[return-value]


def stray_interfaces(bridge: str, known: Iterable[str]) -> list[str]:
    """Pods' ends at the bridge that belong to none of the pods `known` by uid."""
    ours = {interface(uid) for uid in known}
    words = ["ip", "-o", "link", "show", "master", bridge]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    names = [line.split(":")[1].strip().split("@")[0] for line in done.stdout.splitlines()]
    return [name for name in names if name.startswith("veth") and name not in ours]


def remove_interface(name: str) -> None:
    subprocess.run(["ip", "link", "delete", name], capture_output=True, check=False)


def disconnect(uid: str) -> None:
    remove_interface(interface(uid))
