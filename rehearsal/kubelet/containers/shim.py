"""Runs one container: `python shim.py SPEC.json`. Starts it in its namespaces, keeps its log, and notes how it ended.

A process of its own for each container, as real runtimes have it, so that the agent's threads are never forked. It
imports the standard library only, which keeps it small and quick to start.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import selectors
import signal
import sys
import traceback
from pathlib import Path
from typing import Any, BinaryIO

sys.path.insert(0, str(Path(__file__).resolve().parent))
import kernel
import rootfs

LONGEST_PART = 16384
"""Longer lines are logged in parts, as container runtimes do."""
CANNOT_RUN = 128
"""The exit code with which runtimes report a program that could not be started."""


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def start_ticks(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19])


def write_json(path: str, content: Any) -> None:
    """Writes a whole file or none: a reader never sees a half of it."""
    temporary = f"{path}.new"
    with open(temporary, "w") as handle:
        json.dump(content, handle)
    os.replace(temporary, path)


def become(spec: dict[str, Any], stdout: int, stderr: int, report: int) -> None:
    """The container's side of the fork: never returns."""
    try:
        kernel.die_with_parent()
        os.setsid()
        yield_to_others(spec["nice"])
        kernel.set_hostname(spec["hostname"])
        empty = os.open("/dev/null", os.O_RDONLY)
        for source, target in ((empty, 0), (stdout, 1), (stderr, 2)):
            os.dup2(source, target)
        kernel.unshare(kernel.NEWNS)  # only now, for the shim must keep the root that it has
        rootfs.build(spec)
        os.chdir(spec["cwd"])
        os.umask(0o022)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execvpe(spec["argv"][0], spec["argv"], spec["env"])
    except BaseException as error:  # noqa: BLE001 - a fork must not go on as its parent
        text = str(error) if isinstance(error, OSError) else "".join(traceback.format_exception(error))
        os.write(report, f"{spec['argv'][0]}: {text}".encode())
    os._exit(CANNOT_RUN)


def yield_to_others(nice: int) -> None:
    """Lowers this process's claim to the processors and, since Linux weighs sessions against each other first, its session's
    (sched(7): the autogroup feature, which a kernel may lack)."""
    if nice == 0:
        return
    # Who stands back further already, as all do whose rehearsal was started so, may not come forward.
    os.setpriority(os.PRIO_PROCESS, 0, max(nice, os.getpriority(os.PRIO_PROCESS, 0)))
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(nice))


class Log:
    """One stream of the container, written line by line as `<time> <stream> <F or P> <text>`."""

    def __init__(self, stream: str, target: BinaryIO) -> None:
        self.stream, self.target, self.rest = stream, target, b""

    def take(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self._write(line, b"F")
        while len(self.rest) >= LONGEST_PART:
            self._write(self.rest[:LONGEST_PART], b"P")
            self.rest = self.rest[LONGEST_PART:]
        self.target.flush()

    def end(self) -> None:
        if self.rest:
            self._write(self.rest, b"F")
            self.target.flush()

    def _write(self, line: bytes, tag: bytes) -> None:
        while len(line) > LONGEST_PART:
            self.target.write(b"%s %s P %s\n" % (now().encode(), self.stream.encode(), line[:LONGEST_PART]))
            line = line[LONGEST_PART:]
        self.target.write(b"%s %s %s %s\n" % (now().encode(), self.stream.encode(), tag, line))


def keep_logs(path: str, streams: dict[int, str]) -> None:
    """Copies the streams to the log until the last process of the container has closed them."""
    with open(path, "ab") as target, selectors.DefaultSelector() as selector:
        for descriptor, name in streams.items():
            selector.register(descriptor, selectors.EVENT_READ, Log(name, target))
        while selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, 65536)
                if data:
                    key.data.take(data)
                else:
                    key.data.end()
                    selector.unregister(key.fd)


def main() -> None:
    spec = json.loads(Path(sys.argv[1]).read_text())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if spec["network_of"] is not None:
        kernel.enter_network(spec["network_of"])
    kernel.unshare(kernel.NEWPID | kernel.NEWUTS | kernel.NEWIPC)
    (out, out_end), (err, err_end), (report, report_end) = os.pipe(), os.pipe(), os.pipe()
    started = now()
    pid = os.fork()
    if pid == 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        become(spec, out_end, err_end, report_end)
    for descriptor in (out_end, err_end, report_end):
        os.close(descriptor)
    failure = os.read(report, 4096).decode(errors="replace")  # ends without a word when the program has taken over
    if not failure:
        write_json(spec["running_file"], {"pid": pid, "started": start_ticks(pid), "startedAt": started})
    keep_logs(spec["log"], {out: "stdout", err: "stderr"})
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 128 - status if status < 0 else status
    outcome = {"exitCode": code, "startedAt": started, "finishedAt": now()}
    write_json(spec["exit_file"], {**outcome, "signal": -status if status < 0 else 0, "failure": failure})


if __name__ == "__main__":
    main()
