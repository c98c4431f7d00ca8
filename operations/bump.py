"""`make bump KUEUE=0.19.2`: moves a controller to another version, everywhere at once.

Writes `settings/catalogue/versions.py`, the Go module that the rehearsal builds the controller from, Kueue's feature gates,
the golden files and the generated documents, and lists the files that changed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rehearsal.host.layout import CHECKOUT
from rehearsal.host.programs import GO_VERSION

VERSIONS = "settings/catalogue/versions.py"
GATES = "settings/catalogue/kueue_gates.py"
FEATURES = "pkg/features/kube_features.go"
LINE = 120
"""Columns of a line of gates."""


@dataclass(frozen=True)
class Controller:
    """A controller of the platform, and the Go module that the rehearsal builds it from."""

    name: str
    module: str
    tools: str
    """The folder of the go.mod that requires it."""

    @property
    def constant(self) -> str:
        return f"{self.name}_VERSION"


CONTROLLERS = (
    Controller("JOBSET", "sigs.k8s.io/jobset", "tools/cluster"),
    Controller("KUEUE", "sigs.k8s.io/kueue", "tools/cluster"),
    Controller("KUBERAY", "github.com/ray-project/kuberay/ray-operator", "tools/kuberay"),
)


class BumpError(Exception):
    """A step failed; the text names it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bump", description=__doc__)
    parser.add_argument("versions", nargs="+", metavar="NAME=VERSION", help="KUEUE, JOBSET or KUBERAY")
    try:
        wanted = parsed(parser.parse_args().versions)
        before = _changed_files()
        for controller, version in wanted.items():
            bump(CHECKOUT, controller, version)
        _regenerate()
    except BumpError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print("changed:", *sorted(_changed_files() - before), sep="\n  ")
    print("Next: make lint test-fast, then `make up` with the new version.")
    return 0


def parsed(arguments: list[str]) -> dict[Controller, str]:
    """Raises BumpError."""
    known, wanted = {controller.name: controller for controller in CONTROLLERS}, {}
    for argument in arguments:
        name, _, version = argument.partition("=")
        if name not in known or not re.fullmatch(r"\d+\.\d+\.\d+", version):
            raise BumpError(f"{argument}: expected one of {', '.join(known)}, '=' and a version such as 1.2.3")
        wanted[known[name]] = version
    return wanted


def bump(checkout: Path, controller: Controller, version: str) -> None:
    """The Go module first: it fails for a version that does not exist, and then nothing has changed."""
    tools = checkout / controller.tools
    _go(tools, "get", f"{controller.module}@v{version}")
    _go(tools, "mod", "tidy")
    versions = checkout / VERSIONS
    versions.write_text(with_version(versions.read_text(), controller, version))
    if controller.name == "KUEUE":
        folder = Path(_go(tools, "list", "-m", "-f", "{{.Dir}}", controller.module).strip())
        gates = checkout / GATES
        gates.write_text(with_gates(gates.read_text(), version, *gates_in((folder / FEATURES).read_text())))


def with_version(text: str, controller: Controller, version: str) -> str:
    """The text of versions.py with another version of a controller."""
    pattern = rf'^{controller.constant} = "[^"]*"$'
    changed, count = re.subn(pattern, f'{controller.constant} = "{version}"', text, flags=re.MULTILINE)
    if count != 1:
        raise BumpError(f"{VERSIONS}: expected one line `{controller.constant} = ...`, found {count}")
    return changed


def required(go_mod: str, module: str) -> str | None:
    """The version of a module that a go.mod requires, without the `v`."""
    found = re.search(rf"^\s*{re.escape(module)} v(\S+)", go_mod, re.MULTILINE)
    return found.group(1) if found else None


def gates_in(source: str) -> tuple[list[str], dict[str, bool]]:
    """(gates that can be switched, locked gates with their values) of Kueue's kube_features.go: the last entry of each gate in
    `defaultVersionedFeatureGates` counts. Raises BumpError where that table is missing."""
    names = dict(re.findall(r'^\s*(\w+)\s+featuregate\.Feature = "(\w+)"', source, re.M))
    _, found, rest = source.partition("defaultVersionedFeatureGates = map[")
    if not found:
        raise BumpError(f"{FEATURES} has no table defaultVersionedFeatureGates")
    last = {
        names[name]: [line for line in specs.splitlines() if "Version:" in line][-1]
        for name, specs in re.findall(r"^\t(\w+): \{\n(.*?)^\t\},", rest.split("\n}\n", 1)[0], re.M | re.S)
    }
    locked = {name: " Default: true" in line for name, line in sorted(last.items()) if "LockToDefault: true" in line}
    return sorted(set(last) - set(locked)), locked


def with_gates(text: str, version: str, free: list[str], locked: Mapping[str, bool]) -> str:
    """The text of kueue_gates.py with the gates of another version."""
    rows = "".join(f"    {row}\n" for row in _rows(free))
    values = "".join(f'    "{name}": {value},\n' for name, value in locked.items())
    for pattern, block in (
        (r'^GATES_OF = "[^"]*"', f'GATES_OF = "{version}"'),
        (r"^FREE = \(\n.*?^\)", f"FREE = (\n{rows})"),
        (r"^LOCKED = \{\n.*?^\}", f"LOCKED = {{\n{values}}}"),
    ):
        text, count = re.subn(pattern, block, text, count=1, flags=re.MULTILINE | re.DOTALL)
        if count != 1:
            raise BumpError(f"{GATES} has no {pattern.split(' ', 1)[0].lstrip('^')}")
    return text


def _rows(names: list[str]) -> Iterator[str]:
    row = ""
    for name in names:
        entry = f'"{name}",'
        if row and len(row) + len(entry) + 1 > LINE:
            yield row
            row = ""
        row = f"{row} {entry}".strip()
    if row:
        yield row


def _go(folder: Path, *arguments: str) -> str:
    go = shutil.which("go")
    if go is None:
        raise BumpError("Go is not installed; `make bump` needs it to resolve modules")
    environment = {**os.environ, "GOTOOLCHAIN": f"go{GO_VERSION}", "GOFLAGS": "-mod=mod", "GOWORK": "off"}
    return _run([go, *arguments], folder, environment)


def _regenerate() -> None:
    """In processes of their own, which import the new versions."""
    for arguments in (
        ["-m", "pytest", "-q", "tests/golden", "--update-golden"],
        ["-m", "operations.json_schema"],
        ["tests/support/documents.py"],
    ):
        _run([sys.executable, *arguments], CHECKOUT)


def _changed_files() -> set[str]:
    return set(_run(["git", "diff", "--name-only", "HEAD"], CHECKOUT).split())


def _run(command: list[str], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).strip().splitlines()[-12:]
        raise BumpError(f"`{' '.join(command)}` failed:\n    " + "\n    ".join(lines))
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
