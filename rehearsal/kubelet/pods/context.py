"""What all pods of the agent share."""

from __future__ import annotations

import ipaddress
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rehearsal.kubelet.api.events import Events
from rehearsal.kubelet.api.tokens import Tokens
from rehearsal.kubelet.pods.memory_budget import MemoryBudget
from rehearsal.kubelet.volumes.buckets import Buckets
from rehearsal.kubernetes.client import Client
from rehearsal.kubernetes.image_table import Image

Object = dict[str, Any]


@dataclass(frozen=True)
class Context:
    client: Client
    events: Events
    tokens: Tokens
    table: Sequence[Image]
    state: Path
    bridge: str
    gateway: ipaddress.IPv4Interface
    service_host: str
    service_port: int
    name_server: str
    """The address of the cluster's DNS."""
    backoff_scale: float
    room: MemoryBudget
    buckets: Buckets | None
    find: Callable[[str, str, str], Object | None]
    """(kind, namespace, name) -> a ConfigMap or Secret."""
    node: Callable[[str], Object | None]
    pod_addresses: Callable[[], set[str]]
    """The addresses of all pods that the API server knows."""
    addresses: threading.Lock = field(default_factory=threading.Lock)
    """Held while an address is chosen and written down."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the agent ends: from then on no pod is touched."""

    @property
    def pods(self) -> Path:
        return self.state / "pods"


def node_address(node: Object) -> str:
    """A node's InternalIP; empty while it has none."""
    addresses = (node.get("status") or {}).get("addresses") or []
    return next((str(entry["address"]) for entry in addresses if entry["type"] == "InternalIP"), "")


def pod_folder(pods: Path, pod: Object) -> Path:
    metadata = pod["metadata"]
    return pods / f"{metadata['namespace']}_{metadata['name']}_{metadata['uid']}"
