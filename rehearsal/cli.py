"""`python -m rehearsal`: the rehearsal by hand."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path

from rehearsal import lifecycle
from rehearsal.errors import INTERRUPTED, KNOWN_ERRORS, RehearsalError
from rehearsal.host import sandbox
from rehearsal.host.layout import Layout
from rehearsal.host.programs import CHECKERS, PROGRAMS, SHIPPED
from rehearsal.host.toolchain import Toolchain


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rehearsal", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    tools = verbs.add_parser("tools", help="build what is missing")
    tools.add_argument("--checkers", action="store_true", help="only what checks the project's own files")
    up = verbs.add_parser("up", help="start, or start again what died")
    up.add_argument("--kubectl-port", type=int, help="loopback port for the first cluster (default: a free one)")
    verbs.add_parser("down", help="stop; the state stays")
    verbs.add_parser("status", help="every program, what died, and its last lines")
    logs = verbs.add_parser("logs", help="the log of one program")
    logs.add_argument("program", nargs="?")
    logs.add_argument("--lines", type=int, default=40)
    run = verbs.add_parser("exec", help="run a command inside, with the rehearsal's environment")
    run.add_argument("command", nargs=argparse.REMAINDER)
    kubeconfig = verbs.add_parser("kubeconfig", help="write a kubeconfig for kubectl outside, and print its path")
    kubeconfig.add_argument("cluster", nargs="?")
    verbs.add_parser("gcloud-env", help="print the settings for gcloud outside, as shell exports")
    faults = verbs.add_parser("faults", help="show or set Google's faults")
    faults.add_argument("json", nargs="?", help='a JSON list of faults, or "none"')
    capacity = verbs.add_parser("capacity", help="show or set how many chips Google has")
    capacity.add_argument("json", nargs="?", help='a JSON object of "chips" and "times", or "unlimited"')
    verbs.add_parser("leftovers", help="what is left in Google's state")
    return parser


def main() -> int:
    arguments = _parser().parse_args()
    layout = Layout.default()
    try:
        return _run(arguments, layout)
    except KeyboardInterrupt:
        return INTERRUPTED
    except KNOWN_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _run(arguments: argparse.Namespace, layout: Layout) -> int:
    match arguments.verb:
        case "tools":
            Toolchain(layout).ensure(CHECKERS if arguments.checkers else (*PROGRAMS, *SHIPPED))
            if not arguments.checkers:
                lifecycle.ensure_python_images(layout)
        case "up":
            lifecycle.up(layout, kubectl_port=arguments.kubectl_port)
        case "down":
            lifecycle.down(layout)
        case "status":
            table, well = lifecycle.status(layout)
            print(table)
            return 0 if well else 1
        case "logs":
            return _logs(layout, arguments.program, arguments.lines)
        case "exec":
            command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
            return lifecycle.run_inside(layout, command).returncode
        case "kubeconfig":
            print(lifecycle.write_kubeconfig(layout, arguments.cluster))
        case "gcloud-env":
            if sandbox.first_process(layout) is None:
                raise RehearsalError("the rehearsal is not up: run `make up` or `make rehearsal` first")
            for key, value in lifecycle.gcloud_settings(layout).items():
                print(f"export {key}={shlex.quote(value)}")
        case "faults":
            return _faults(layout, arguments.json)
        case "capacity":
            return _capacity(layout, arguments.json)
        case "leftovers":
            print(json.dumps(lifecycle.google(layout, "GET", "/_rehearsal/leftovers"), indent=2))
    return 0


def _logs(layout: Layout, program: str | None, lines: int) -> int:
    found = {path.stem: path for path in sorted(layout.logs.glob("*.log"))}
    if program not in found:
        if program is not None:
            print(f"error: there is no log of {program}", file=sys.stderr)
        print("logs of: " + ", ".join(found) if found else "no logs yet")
        return 0 if program is None else 1
    print("\n".join(Path(found[program]).read_text(errors="replace").splitlines()[-lines:]))
    return 0


def _faults(layout: Layout, text: str | None) -> int:
    if text == "none":
        lifecycle.google(layout, "DELETE", "/_rehearsal/faults")
    elif text is not None:
        try:
            wanted = json.loads(text)
        except ValueError as error:
            raise RehearsalError(
                f'the faults are not JSON ({error}); for example: \'[{{"match": {{"name": "nodepool2"}}, "fault": "stockout"}}]\''
            ) from error
        lifecycle.google(layout, "PUT", "/_rehearsal/faults", wanted)
    print(json.dumps(lifecycle.google(layout, "GET", "/_rehearsal/faults"), indent=2))
    return 0


def _capacity(layout: Layout, text: str | None) -> int:
    if text == "unlimited":
        lifecycle.google(layout, "DELETE", "/_rehearsal/capacity")
    elif text is not None:
        lifecycle.google(layout, "PUT", "/_rehearsal/capacity", json.loads(text))
    print(json.dumps(lifecycle.google(layout, "GET", "/_rehearsal/capacity"), indent=2))
    return 0
