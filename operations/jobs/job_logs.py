"""What the programs of a job have said in their logs: the chips they counted, how their loss went, whether they came to the end.

Pure but for the reading. Ray sets a prefix before its workers' lines, so that nothing is expected at the beginning of a line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rehearsal.kubernetes.kubeapi import KubeApi

COUNT = re.compile(r"Global device count: (\d+)")
REPEATED = re.compile(r"\[repeated (\d+)x across cluster\]")
"""What Ray appends to one line in place of so many that were alike, but for words with a digit in them (`LogDeduplicator` in
ray/_private/ray_logging). The first one was printed by itself before."""
EPOCH = re.compile(r"Epoch \d+: Loss (\S+)")
STEP = re.compile(r'\{"step": .*\}')
END = "Training Complete!"
SIMULATED = "is simulated: the rehearsal runs no program for its image"


@dataclass(frozen=True)
class LogSummary:
    """`devices` has a count for each process that told one; `losses` are the first and the last, () where there are none."""

    devices: tuple[int, ...] = ()
    losses: tuple[float, ...] = ()
    complete: bool = False


def log_summary(logs: Iterable[str]) -> LogSummary | None:
    """What the logs of a job's pods say together; None when they are played and say nothing."""
    played = True
    devices: list[int] = []
    losses: list[float] = []
    complete = False
    for log in logs:
        if SIMULATED in log:
            continue
        played = False
        lines = log.splitlines()
        devices += [count for line in lines for count in _counts(line)]
        losses += [value for line in lines if (value := _loss(line)) is not None]
        complete = complete or any(END in line for line in lines)
    return None if played else LogSummary(tuple(devices), (losses[0], losses[-1]) if losses else (), complete)


def _counts(line: str) -> list[int]:
    """The devices that each process counted whose line this is, or is in the place of."""
    found, repeated = COUNT.search(line), REPEATED.search(line)
    return [int(found[1])] * (int(repeated[1]) if repeated else 1) if found else []


def _loss(line: str) -> float | None:
    step = STEP.search(line)
    try:
        if step is not None:
            return float(json.loads(step[0])["loss"])
        epoch = EPOCH.search(line)
        return float(epoch[1]) if epoch is not None else None
    except (ValueError, KeyError, TypeError):
        return None  # a line that was cut off


def read(cluster: KubeApi, namespace: str, pods: Sequence[str]) -> LogSummary | None:
    """Reads the logs of pods that have ended, as `kubectl logs` does. None for pods that are gone. Raises client.ApiException and
    urllib3's errors."""
    logs = [cluster.text(f"/api/v1/namespaces/{namespace}/pods/{pod}/log") for pod in pods]
    return log_summary(log for log in logs if log is not None)
