"""A training job on this machine: its processes, started as its pods start them, with the variables of the manifest."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parents[1] / "workloads" / "programs"
PATIENCE_S = 300.0
"""What may take seconds on a free machine: the interpreter, the imports and the compiler."""
HEARTBEAT_S = 20


@dataclass
class Ended:
    """What a process left behind."""

    code: int
    out: str
    err: str

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    @property
    def errors(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith(("error:", "checkpoint "))]


class Job:
    """Slices x hosts processes with `chips` CPU devices each. Use as a context: what still runs at its end is killed."""

    def __init__(
        self, scratch: Path, *flags: str, slices: int = 1, hosts: int = 2, chips: int = 2, **variables: str
    ) -> None:
        self._scratch = scratch
        self._flags = flags
        self._held, self.coordinator = _held_address()
        common = {
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "JAX_PLATFORMS": "cpu",
            "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
            "XLA_FLAGS": f"--xla_force_host_platform_device_count={chips}",
            "COORDINATOR_ADDRESS": self.coordinator,
            "NUM_SLICES": str(slices),
            "HOSTS_PER_SLICE": str(hosts),
            "CHIPS_PER_HOST": str(chips),
        }
        self._pods = [
            common | {"SLICE_INDEX": str(i // hosts), "HOST_INDEX": str(i % hosts)} | variables
            for i in range(slices * hosts)
        ]
        self.processes: list[subprocess.Popen[bytes]] = []
        self._started: list[int] = []
        scratch.mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> Job:
        return self if self.processes else self.start(range(len(self._pods)))

    def __exit__(self, *_: object) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self._held.close()

    def start(self, numbers: Sequence[int]) -> Job:
        """Starts the processes of these numbers."""
        self._started = list(numbers)
        for number in numbers:
            with self._file(number, "out").open("wb") as out, self._file(number, "err").open("wb") as err:
                command = [sys.executable, "-m", "training", *self._flags]
                self.processes.append(
                    subprocess.Popen(command, cwd=PROGRAMS, env=self._pods[number], stdout=out, stderr=err)
                )
        return self

    def ended(self, within_s: float = PATIENCE_S) -> list[Ended]:
        """All processes, once all have ended. Raises subprocess.TimeoutExpired if they do not in time."""
        deadline = time.monotonic() + within_s
        codes = [process.wait(max(0.0, deadline - time.monotonic())) for process in self.processes]
        return [
            Ended(code, self._file(number, "out").read_text(), self._file(number, "err").read_text())
            for number, code in zip(self._started, codes, strict=True)
        ]

    def until_step(self, step: int) -> None:
        """Waits until process 0 has reported that many steps, or has ended."""
        self._until(lambda: any(line["step"] >= step for line in self._seen()) or self.processes[0].poll() is not None)

    def until_it_listens(self) -> None:
        """Waits until process 0 can be reached by the others."""
        self._until(lambda: socket.socket().connect_ex(("127.0.0.1", self._held.getsockname()[1])) == 0)

    def signal(self, number: int, which: signal.Signals) -> None:
        self.processes[number].send_signal(which)

    def _seen(self) -> list[dict[str, Any]]:
        whole = self._file(0, "out").read_text().rpartition("\n")[0]
        return Ended(0, whole, "").steps

    def _until(self, check: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not check():
            assert time.monotonic() < deadline, self._file(0, "err").read_text()
            time.sleep(0.01)

    def _file(self, number: int, stream: str) -> Path:
        return self._scratch / f"{number}.{stream}"


def _held_address() -> tuple[socket.socket, str]:
    """An address for the coordinator, and a socket that keeps its port from everybody else until process 0 listens there.

    It listens to nothing itself, and shares the port with those that say they share it too, as gRPC's servers do.
    """
    held = socket.socket(socket.AF_INET6)
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    held.bind(("::", 0))
    return held, f"127.0.0.1:{held.getsockname()[1]}"
