"""The workflows of GitHub Actions: sound, made of our own make targets, and with nothing in a fork's reach."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.host.layout import Layout
from rehearsal.host.programs import CHECKERS
from rehearsal.host.toolchain import Toolchain

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.name: path for path in sorted(FOLDER.iterdir())}
PULL_REQUEST = "pull-request.yml"
ACTIONLINT = ("-shellcheck=", "-pyflakes=")
"""Without other linters that may or may not be on a machine."""
OUR_OWN = "github.event.pull_request.head.repo.full_name == github.repository"
PINNED = re.compile(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")
TARGET = re.compile(r"make (?P<target>[a-z-]+)(?: ENV=\$\{\{ matrix\.environment \}\} BASE=HEAD\^1 .*| FROM=comments)?")


def workflow(name: str) -> dict[Any, Any]:
    described: dict[Any, Any] = yaml.safe_load(WORKFLOWS[name].read_text())
    return described


def jobs() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(workflow, job, its description) of all."""
    for name in WORKFLOWS:
        for job, described in workflow(name)["jobs"].items():
            yield name, job, described


def for_forks() -> list[tuple[str, dict[str, Any]]]:
    """The jobs that a pull request from a fork starts."""
    return [(job, d) for job, d in workflow(PULL_REQUEST)["jobs"].items() if OUR_OWN not in d.get("if", "")]


def strings(value: Any) -> Iterator[str]:
    """Every string in a tree, keys included."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from (str(key), *strings(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)
    else:
        yield str(value)


@pytest.fixture(scope="module")
def actionlint() -> Path:
    layout = Layout.default()
    Toolchain(layout, say=lambda _line: None).ensure(CHECKERS)
    return layout.bin / "actionlint"


def lint(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.tools
def test_actionlint_finds_nothing(actionlint: Path) -> None:
    done = lint(actionlint, *ACTIONLINT, *WORKFLOWS.values())
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.tools
def test_actionlint_would_find_a_mistake(actionlint: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[PULL_REQUEST].read_text().replace("matrix.environment", "matrix.enviroment"))
    done = lint(actionlint, *ACTIONLINT, broken)
    assert done.returncode != 0
    assert "enviroment" in done.stdout


def test_zizmor_finds_nothing() -> None:
    done = lint(Path(sys.prefix) / "bin" / "zizmor", "--offline", "--quiet", FOLDER)
    assert done.returncode == 0, done.stdout


def test_zizmor_would_find_a_trigger_that_gives_forks_credentials(tmp_path: Path) -> None:
    broken = tmp_path / ".github" / "workflows" / "broken.yml"
    broken.parent.mkdir(parents=True)
    broken.write_text(WORKFLOWS[PULL_REQUEST].read_text().replace("  pull_request:", "  pull_request_target:"))
    done = lint(Path(sys.prefix) / "bin" / "zizmor", "--offline", "--quiet", broken)
    assert done.returncode != 0
    assert "dangerous-triggers" in done.stdout


def test_every_command_is_a_make_target_that_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = [step["run"] for _, _, job in jobs() for step in job["steps"] if "run" in step]
    found = [TARGET.fullmatch(command) for command in commands]
    assert None not in found, commands
    assert {match["target"] for match in found if match} <= targets
    assert {"make lint", "make test-fast", "make comment FROM=comments"} <= set(commands)


def test_a_preview_is_compared_with_the_base_and_handed_to_the_comment() -> None:
    steps = workflow(PULL_REQUEST)["jobs"]["offline-preview"]["steps"]
    (command,) = [step["run"] for step in steps if "run" in step]
    assert command.startswith("make preview ENV=${{ matrix.environment }} BASE=HEAD^1 ")
    # GitHub checks out the merge: without its parents there is no base.
    assert [step["with"]["fetch-depth"] for step in steps if "fetch-depth" in step.get("with", {})] == [2]
    (uploaded,) = [step["with"] for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]
    posting = workflow(PULL_REQUEST)["jobs"]["comment"]
    (downloaded,) = [
        step["with"] for step in posting["steps"] if step.get("uses", "").startswith("actions/download-artifact@")
    ]
    assert f"--comment {uploaded['path']}/" in command
    assert fnmatch(uploaded["name"], downloaded["pattern"])
    assert posting["needs"] == ["offline-preview"]
    assert set(posting["steps"][-1]["env"]) == {"GITHUB_TOKEN", "PULL_REQUEST"}


def test_the_offline_previews_are_those_of_the_committed_stacks() -> None:
    stacks = sorted(path.name.split(".")[1] for path in ROOT.glob("Pulumi.*.yaml"))
    matrix = workflow(PULL_REQUEST)["jobs"]["offline-preview"]["strategy"]["matrix"]
    assert matrix == {"environment": stacks}


def test_pull_requests_start_by_the_trigger_that_keeps_secrets_from_forks() -> None:
    # YAML 1.1 reads the key `on` as true.
    assert {name: set(workflow(name)[True]) for name in WORKFLOWS} == {
        PULL_REQUEST: {"pull_request"},
        "main.yml": {"push"},
    }
    assert workflow("main.yml")[True]["push"] == {"branches": ["main"]}


def test_no_job_that_a_fork_starts_has_a_secret_or_an_identity() -> None:
    forks = for_forks()
    assert {job for job, _ in forks} == {"lint", "tests", "tools", "offline-preview"}
    for _, described in forks:
        assert described["permissions"] == {"contents": "read"}
        assert "environment" not in described
        assert not [
            text for text in strings(described) if "secrets" in text or "vars." in text or "github.token" in text
        ]


def test_nothing_is_allowed_that_is_not_stated_by_a_job() -> None:
    assert all(workflow(name)["permissions"] == {} for name in WORKFLOWS)
    identity = {"contents": "read", "id-token": "write"}
    stated = {(name, job): described["permissions"] for name, job, described in jobs()}
    more = {where: given for where, given in stated.items() if given != {"contents": "read"}}
    assert more == {
        (PULL_REQUEST, "comment"): {"contents": "read", "pull-requests": "write"},
        (PULL_REQUEST, "cloud-preview"): {**identity, "pull-requests": "write"},
        ("main.yml", "up"): identity,
    }


def test_no_workflow_keeps_a_secret() -> None:
    """Google knows the workflow by its identity: there is no key to leak."""
    assert not [name for name, path in WORKFLOWS.items() if "secrets." in path.read_text()]


def test_what_has_an_identity_is_behind_a_gate_and_takes_nothing_from_a_cache() -> None:
    gated = [(name, job, d) for name, job, d in jobs() if "id-token" in d["permissions"]]
    assert {(name, d["environment"]) for name, _, d in gated} == {
        (PULL_REQUEST, "${{ matrix.environment }}-preview"),
        ("main.yml", "${{ matrix.environment }}"),
    }
    used = [step.get("uses", "") for _, _, described in gated for step in described["steps"]]
    assert not [action for action in used if action.startswith("actions/cache@")]


def test_actions_are_pinned_by_commit() -> None:
    uses = [
        line.strip(" -") for path in WORKFLOWS.values() for line in path.read_text().splitlines() if "uses:" in line
    ]
    assert uses
    assert [line for line in uses if not PINNED.fullmatch(line)] == []


def test_an_action_is_one_version_everywhere() -> None:
    found = {step["uses"] for _, _, job in jobs() for step in job["steps"] if "uses" in step}
    assert len(found) == len({action.split("@")[0] for action in found})


def test_no_checkout_leaves_its_token_to_later_steps() -> None:
    checkouts = [
        step for _, _, job in jobs() for step in job["steps"] if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert len(checkouts) == len(list(jobs()))
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_cloud_runs_the_engine_of_the_program_with_the_policies() -> None:
    version = re.search(r"^pulumi==(\S+)$", (ROOT / "requirements.in").read_text(), re.MULTILINE)
    steps = [s["with"] for _, _, job in jobs() for s in job["steps"] if s.get("uses", "").startswith("pulumi/actions@")]
    assert version is not None
    assert [step["command"] for step in steps] == ["up", "preview"]
    for step in steps:
        assert step["pulumi-version"] == version[1]
        assert (ROOT / step["policyPacks"] / "PulumiPolicy.yaml").is_file()
        assert (ROOT / step["policyPackConfigs"]).is_file()
    assert steps[1]["comment-on-pr"] is True
    assert steps[1]["edit-pr-comment"] is True
