"""`make preview ENV=...` of every shipped environment: by the real engine, offline, of nothing and leaving nothing."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from operations.preview.preview import environments
from operations.stack.up import plan_of
from rehearsal.host import sandbox
from rehearsal.host.layout import Layout
from settings.plan.cost import cost_of
from settings.plan.plan import Plan
from tests.end_to_end.conftest import Checkout

pytestmark = pytest.mark.rehearsal

ENVIRONMENTS = environments(Layout.default())
POOL = "gcp:container/nodePool:NodePool"


@pytest.fixture(scope="module")
def tools(checkout: Checkout) -> Checkout:
    checkout.make("tools")
    return checkout


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_environment_previews_offline(tools: Checkout, environment: str, tmp_path: Path) -> None:
    files = {path: path.read_bytes() for path in tools.folder.glob("Pulumi*.yaml")}
    shown = tmp_path / "preview.json"
    done = tools.make("preview", f"ENV={environment}", f"ARGS=--json {shown}")
    plan = plan_of(tools.layout, environment)
    steps = json.loads(shown.read_text())["steps"]
    assert {step["op"] for step in steps} == {"create"}
    pools = {step["newState"]["inputs"]["name"] for step in steps if step["newState"]["type"] == POOL}
    system = set() if plan.settings.cluster.mode == "autopilot" else {"default-pool"}
    assert pools == system | {pool.name for pool in plan.pools}
    assert_shows_cost(done.stdout, plan)
    assert {path: path.read_bytes() for path in tools.folder.glob("Pulumi*.yaml")} == files
    assert sandbox.first_process(tools.layout) is None
    assert not list(tools.layout.stacks.rglob("*.json"))


def assert_shows_cost(printed: str, plan: Plan) -> None:
    rows = [re.split(r" {2,}", line.strip()) for line in printed.splitlines()]
    shown = {row[0]: row[1:4] for row in rows if len(row) == 5}
    cost = cost_of(plan)
    for label, amount in (("at minimum, a day", cost.minimum), ("at full scale, a day", cost.full)):
        assert shown[label] == [str(amount.chips), str(amount.hosts), str(amount.chips * 24)]


def test_no_credential_is_in_reach_of_a_preview(tools: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever points at a real account would fail the preview if anything followed it."""
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "somebodys-project")
    monkeypatch.setenv("PULUMI_BACKEND_URL", "gs://somebodys-state")
    monkeypatch.setenv("PULUMI_ACCESS_TOKEN", "pul-somebodys")
    monkeypatch.setenv("KUBECONFIG", "/nowhere/kubeconfig")
    assert "create:" in tools.make("preview", "ENV=dev").stdout


def test_another_revision_is_compared_with(tools: Checkout, tmp_path: Path) -> None:
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.invalid"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "before"]):
        subprocess.run([*git, *words], cwd=tools.folder, check=True, capture_output=True)
    path = tools.folder / "Pulumi.staging.yaml"
    before = path.read_text()
    path.write_text(before.replace("pools: [spare-1]", "pools: [spare-1, spare-2]"))
    try:
        printed = tools.make("preview", "ENV=staging", "BASE=HEAD", f"ARGS=--comment {tmp_path / 'comment.md'}").stdout
    finally:
        path.write_text(before)
    compared = printed.split("against HEAD\n")[1].split("\n\n")[0]
    rows = [line.split() for line in compared.splitlines()]
    assert ["create", "gcp:container/nodePool:NodePool", "spare-2-pool"] in rows
    assert {row[0] for row in rows} == {"create", "update"}
    log_summary = (tmp_path / "comment.md").read_text()
    assert log_summary.startswith("### `staging` against `HEAD`: ")
    assert re.search(r"at full scale, a day +[0-9]+ -> [0-9]+ ", log_summary)


def test_a_stack_in_an_existing_cluster_previews_what_it_adds_to_it(tools: Checkout, tmp_path: Path) -> None:
    config = yaml.safe_load((tools.folder / "Pulumi.dev.yaml").read_text())["config"]
    pool = {"machineType": "e2-standard-8", "nodes": 2, "zones": ["us-central1-a"]}
    config["tpu-platform:cluster"] = {"name": "shared-cluster", "existing": True, "defaultPool": pool}
    shown, stack = tmp_path / "preview.json", tools.folder / "Pulumi.theirs.yaml"
    stack.write_text(yaml.safe_dump({"config": config}))
    try:
        tools.make("preview", "ENV=theirs", f"ARGS=--json {shown}")
    finally:
        stack.unlink()
    states = [(step["op"], step["newState"]) for step in json.loads(shown.read_text())["steps"]]
    read = [(state["type"], state["id"].rsplit("/", 1)[-1]) for op, state in states if op == "read"]
    assert read == [("gcp:container/cluster:Cluster", "shared-cluster")]
    created = [state["inputs"]["name"] for op, state in states if op == "create" and state["type"] == POOL]
    assert "nodepool1" in created
    assert "default-pool" not in created
    assert sandbox.first_process(tools.layout) is None


def test_an_environment_of_nobodys_is_told_which_there_are(tools: Checkout) -> None:
    done = tools.make("preview", "ENV=produ", check=False)
    assert done.returncode != 0
    assert ", ".join(ENVIRONMENTS) in done.stderr
    assert "Traceback" not in done.stderr
