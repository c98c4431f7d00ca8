"""The jobs of one Ray cluster as its head keeps them, in Ray's states and words (ray/dashboard/modules/job)."""

from __future__ import annotations

import dataclasses
import json
import secrets
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TERMINAL = frozenset({"SUCCEEDED", "FAILED", "STOPPED"})
ENTRYPOINT_FAILED = "JOB_ENTRYPOINT_COMMAND_ERROR"
WORKER_LOST = "ray.exceptions.ActorDiedError: The actor died because its node has died."


class DuplicateJob(ValueError):
    """A submission id that is taken."""


class UnfinishedJob(RuntimeError):
    """A job that cannot be deleted because it has not ended."""


@dataclasses.dataclass
class Job:
    """One submitted job. Times are in milliseconds since 1970; `crew` are the uids of the workers that it runs on."""

    submission_id: str
    entrypoint: str
    status: str = "PENDING"
    message: str = "Job has not started yet."
    error_type: str | None = None
    start_time: int = 0
    end_time: int | None = None
    metadata: dict[str, str] | None = None
    runtime_env: dict[str, Any] | None = None
    driver_exit_code: int | None = None
    running_since: int | None = None
    crew: list[str] = dataclasses.field(default_factory=list)
    logs: str = ""

    @property
    def over(self) -> bool:
        return self.status in TERMINAL

    def details(self) -> dict[str, Any]:
        """The job as Ray's `JobDetails` has it."""
        return {
            "type": "SUBMISSION",
            "job_id": None,
            "submission_id": self.submission_id,
            "driver_info": None,
            "status": self.status,
            "entrypoint": self.entrypoint,
            "message": self.message,
            "error_type": self.error_type,
            "start_time": self.start_time,
            "end_time": self.end_time,
            "metadata": self.metadata if self.metadata is not None else {},
            "runtime_env": self.runtime_env if self.runtime_env is not None else {},
            "driver_agent_http_address": None,
            "driver_node_id": None,
            "driver_exit_code": self.driver_exit_code,
        }

    def end(self, status: str, message: str, exit_code: int | None) -> None:
        self.status, self.message, self.driver_exit_code, self.end_time = status, message, exit_code, now()

    def fail(self, why: str) -> None:
        """Ends the job as one whose own program failed with `why` as its last words."""
        self.logs += f"{why}\n"
        self.error_type = ENTRYPOINT_FAILED
        last = self.logs[-20_000:]
        head = "Job entrypoint command failed with exit code 1, last available logs (truncated to 20,000 chars):"
        self.end("FAILED", f"{head}\n{last}", 1)


class Jobs:
    """The jobs of one head, kept in `file` so that they outlive this program, as they would on a real head. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self._file, self._lock = file, threading.RLock()
        found = json.loads(file.read_text()) if file.exists() else []
        self._jobs = {row["submission_id"]: Job(**row) for row in found}

    def _save(self) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(json.dumps([dataclasses.asdict(job) for job in self._jobs.values()]))
        fresh.rename(self._file)

    def get(self, submission_id: str) -> Job | None:
        with self._lock:
            return self._jobs.get(submission_id)

    def all(self) -> list[Job]:
        with self._lock:
            return list(self._jobs.values())

    def submit(self, request: Mapping[str, Any]) -> str:
        """Takes a `JobSubmitRequest`; returns the submission id. Raises DuplicateJob."""
        given = request.get("submission_id")
        name = str(given) if given else f"raysubmit_{secrets.token_urlsafe(12)}"
        with self._lock:
            if name in self._jobs:
                raise DuplicateJob(
                    f"Job with submission_id {name} already exists. Please use a different submission_id."
                )
            job = Job(name, str(request["entrypoint"]), start_time=now())
            job.metadata, job.runtime_env = request.get("metadata"), request.get("runtime_env")
            if job.runtime_env:
                job.message += " It may be waiting for the runtime environment to be set up."
            self._jobs[name] = job
            self._save()
        return name

    def stop(self, submission_id: str) -> bool:
        """Whether there was something to stop."""
        with self._lock:
            job = self._jobs[submission_id]
            if job.over:
                return False
            job.end("STOPPED", "Job was intentionally stopped.", None)
            self._save()
            return True

    def delete(self, submission_id: str) -> None:
        """Raises UnfinishedJob."""
        with self._lock:
            job = self._jobs[submission_id]
            if not job.over:
                raise UnfinishedJob(
                    f"Attempted to delete job '{submission_id}', but it is in a non-terminal state {job.status}."
                )
            del self._jobs[submission_id]
            self._save()

    def advance(self, workers: set[str], wanted: int, duration_ms: int, fails: str | None) -> None:
        """Lets time pass: `workers` are the uids of those that run, `wanted` is how many there should be.

        A job starts when all workers are there, and fails when one of those that it started on is gone. After `duration_ms`
        it has succeeded or, with `fails` as its last words, failed.
        """
        with self._lock:
            before = [job.status for job in self._jobs.values()]
            for job in self._jobs.values():
                if job.status == "PENDING" and len(workers) >= wanted:
                    job.status, job.message = "RUNNING", "Job is currently running."
                    job.running_since, job.crew = now(), sorted(workers)
                elif job.status == "RUNNING":
                    _go_on(job, workers, duration_ms, fails)
            if before != [job.status for job in self._jobs.values()]:
                self._save()


def _go_on(job: Job, workers: set[str], duration_ms: int, fails: str | None) -> None:
    since = job.running_since if job.running_since is not None else now()
    if not set(job.crew) <= workers:
        job.fail(WORKER_LOST)
    elif now() - since < duration_ms:
        return
    elif fails is not None:
        job.fail(fails)
    else:
        job.end("SUCCEEDED", "Job finished successfully.", 0)


def now() -> int:
    return int(time.time() * 1000)
