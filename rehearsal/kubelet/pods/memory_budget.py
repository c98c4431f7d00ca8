"""The machine's memory, shared out among the pods that run for real.

What a pod asks of its node says nothing of what it takes here, so the image table states that. A job's pods wait for each other:
once one of them has begun, the others begin too, and it is the next job that waits.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

PART = 0.75
"""Of the memory that was available when the agent started; the rest is for the control plane, and for jobs larger than the figure
for their images says."""
_GROUPS = ("jobset.sigs.k8s.io/jobset-uid", "ray.io/cluster", "batch.kubernetes.io/controller-uid")
_WORKLOAD = "kueue.x-k8s.io/workload"
"""Kueue's annotation: a RayJob's submitter is of another Job than its cluster, and of the same workload."""


def available(text: str | None = None) -> float:
    """Bytes of memory that programs may still take, as the kernel estimates (proc(5): MemAvailable)."""
    lines = (Path("/proc/meminfo").read_text() if text is None else text).splitlines()
    return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def group(pod: dict[str, Any]) -> str:
    """What a pod's job is known by; a pod without one is on its own."""
    labels, annotations = pod["metadata"].get("labels") or {}, pod["metadata"].get("annotations") or {}
    named = (annotations.get(_WORKLOAD), *(labels.get(name) for name in _GROUPS))
    found = next((name for name in named if name is not None), pod["metadata"]["uid"])
    return f"{pod['metadata']['namespace']}/{found}"


class MemoryBudget:
    """`size` bytes, and who has how many of them. Safe for use from many threads."""

    def __init__(self, size: float) -> None:
        self.size = size
        self.taken: dict[str, tuple[str, float, str]] = {}
        self.lock = threading.Lock()

    def take(self, pod: dict[str, Any], wanted: float, kind: str = "", most: int | None = None) -> bool:
        """Whether the pod may run: it has room already, or gets it now. The first job gets it whatever its size. Of a `kind` at
        most so many jobs run at a time."""
        uid, job = pod["metadata"]["uid"], group(pod)
        with self.lock:
            others = sum(amount for _, amount, _ in self.taken.values())
            begun = {other: of for other, _, of in self.taken.values()}
            if job not in begun:
                if wanted > 0 and others > 0 and others + wanted > self.size:
                    return False
                if most is not None and list(begun.values()).count(kind) >= most:
                    return False
            self.taken[uid] = (job, wanted, kind)
            return True

    def leave(self, uid: str) -> None:
        with self.lock:
            self.taken.pop(uid, None)
