"""The command line of a training pod, run for real with a pip that is played: what a signal does, and what a failure ends with."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from settings.catalogue.versions import TRAINING_REQUIREMENTS
from tests.support.platforms import plan_with
from workloads.jobset.manifest import multislice_jobset
from workloads.programs.training.failure import FOR_GOOD, INSTALLATION, STOPPED

pytestmark = pytest.mark.unit

AT_ONCE_S = 2.0
STARTS_S = 30.0
WRITES = 'echo "$$ $*" > "$FOLDER/new"; mv "$FOLDER/new" "$FOLDER/$(basename "$0")-began"'
WAITS = f"{WRITES}\nexec sleep 600"

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(params=["training", "device-count"])
def program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def start(tmp_path: Path, program: str) -> Iterator[Start]:
    """Runs the command of a pod with these shell scripts as `pip` and `python`."""
    started: list[subprocess.Popen[bytes]] = []

    def run(pip: str, python: str = WAITS) -> subprocess.Popen[bytes]:
        for name, script in (("pip", pip), ("python", python)):
            (tmp_path / name).write_text(f"#!/bin/bash\n{script}\n")
            (tmp_path / name).chmod(0o755)
        surroundings = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "FOLDER": str(tmp_path), "TRAINING_PROGRAM": "none"}
        # A session of its own: what a test that fails leaves behind is found by it.
        started.append(subprocess.Popen(command(program), env=surroundings, start_new_session=True))
        return started[-1]

    yield run
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def command(program: str) -> list[str]:
    job = plan_with(workloads=[{"name": "train", "slices": 1, "program": program}]).jobs[0]
    pod: Any = multislice_jobset(job)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return list(pod["containers"][0]["command"])


def runs(pid: int) -> bool:
    """Whether a process is there, and is not one that has ended and that nobody has asked about."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def began(folder: Path, name: str) -> list[str]:
    """Process id and arguments of `pip` or `python`, once it runs."""
    deadline = time.monotonic() + STARTS_S
    while not (folder / f"{name}-began").exists():
        assert time.monotonic() < deadline, f"{name} did not start"
        time.sleep(0.01)
    return (folder / f"{name}-began").read_text().split()


def test_sigterm_while_packages_are_installed_ends_all_at_once(start: Start, tmp_path: Path) -> None:
    process = start(WAITS)
    pip = int(began(tmp_path, "pip")[0])
    process.terminate()
    assert process.wait(AT_ONCE_S) == STOPPED
    deadline = time.monotonic() + AT_ONCE_S
    while runs(pip):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not (tmp_path / "python-began").exists()


def test_the_shell_becomes_the_program_which_gets_the_signal(start: Start, tmp_path: Path, program: str) -> None:
    process = start("exit 0", f"trap 'exit 42' TERM\n{WRITES}\nsleep 600 &\nwait")
    pid, *arguments = began(tmp_path, "python")
    assert int(pid) == process.pid
    assert arguments[:2] == (["-m", "training"] if program == "training" else ["-c", "none"])
    process.terminate()
    assert process.wait(AT_ONCE_S) == 42


def test_packages_that_cannot_be_installed_are_no_end_for_good_whatever_pip_says(start: Start, tmp_path: Path) -> None:
    process = start(f"{WRITES}\nexit 2")
    assert process.wait(STARTS_S) == INSTALLATION
    assert INSTALLATION not in FOR_GOOD
    assert not (tmp_path / "python-began").exists()


def test_all_packages_are_asked_for(start: Start, tmp_path: Path, program: str) -> None:
    start(WAITS)
    wanted = TRAINING_REQUIREMENTS if program == "training" else TRAINING_REQUIREMENTS[:1]
    assert began(tmp_path, "pip")[1:] == ["install", "--quiet", *wanted]
