"""What a run that did not end well has made, and which of it is the program's own."""

from __future__ import annotations

import json
from subprocess import CompletedProcess
from typing import Any

import pytest

from operations.stack import recovery
from operations.stack.engine import Engine
from operations.stack.recovery import adopted, googles_own, made_and_lost, resource_id, wanted_at_google
from policies.values import UNKNOWN
from rehearsal.host.layout import Layout
from rehearsal.lifecycle import RehearsalError

pytestmark = pytest.mark.unit

CLUSTER: dict[str, Any] = {
    "urn": "urn:pulumi:s::p::gcp:container/cluster:Cluster::c",
    "type": "gcp:container/cluster:Cluster",
    "inputs": {"project": "p", "location": "l", "name": "c", "removeDefaultNodePool": True},
}
PATH = "projects/p/locations/l/clusters/c"


def step(op: str, type_: str, **inputs: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:s::p::{type_}::{inputs.get('name', 'x')}"
    return {"op": op, "urn": urn, "newState": {"urn": urn, "type": type_, "inputs": inputs}}


class Previewed(Engine):
    """An engine whose preview says what the test wants."""

    answer: CompletedProcess[str]

    def run(self, *arguments: str, **options: Any) -> CompletedProcess[str]:
        assert arguments == ("preview", "--json")
        return self.answer


def engine_that_says(tmp_path: Any, answer: CompletedProcess[str]) -> Engine:
    engine = Previewed(Layout(tmp_path / ".rehearsal", tmp_path))
    object.__setattr__(engine, "answer", answer)
    return engine


def test_only_what_google_would_be_asked_to_make_is_looked_for(tmp_path: Any) -> None:
    steps = [
        step("create", "gcp:compute/network:Network", name="n", project="p"),
        step("update", "gcp:container/cluster:Cluster", name="c"),
        step("create", "tpu-platform:network:Network"),
        step("create", "kubernetes:core/v1:ConfigMap"),
        step("create", "gcp:compute/router:Router", name="r", network={"of": [UNKNOWN]}),
    ]
    # A preview that failed on an object in the cluster has seen what is at Google.
    engine = engine_that_says(tmp_path, CompletedProcess([], 255, json.dumps({"steps": steps}), ""))
    found = wanted_at_google(engine, print)
    assert [resource["inputs"] for resource in found] == [{"name": "n", "project": "p"}, {"name": "r"}]


def test_what_existed_before_the_stack_is_not_adopted(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network and an account of somebody else's have the names that the program wants: it must fail, not own them."""
    network, account = "projects/p/global/networks/theirs", "theirs@p.iam.gserviceaccount.com"
    steps = [
        step("create", "gcp:compute/network:Network", name="theirs", project="p"),
        step("create", "gcp:compute/network:Network", name="ours", project="p"),
        step("create", "gcp:serviceaccount/account:Account", accountId="theirs", project="p"),
    ]
    engine = engine_that_says(tmp_path, CompletedProcess([], 0, json.dumps({"steps": steps}), ""))
    engine.layout.make()
    (engine.layout.run / "preexisting.json").write_text(
        json.dumps({"networks": [network], "service-accounts": [account]})
    )
    monkeypatch.setattr(recovery, "exists", lambda *_: True)
    assert [r["id"] for r in made_and_lost(engine, [], lambda _: None)] == ["projects/p/global/networks/ours"]


def test_what_the_state_has_is_not_adopted_twice(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step("create", "gcp:compute/network:Network", name="n", project="p")]
    engine = engine_that_says(tmp_path, CompletedProcess([], 0, json.dumps({"steps": steps}), ""))
    monkeypatch.setattr(recovery, "exists", lambda *_: True)
    (lost,) = made_and_lost(engine, [], lambda _: None)
    assert made_and_lost(engine, [lost], lambda _: None) == []


def test_without_a_preview_nothing_is_adopted_and_that_is_reported(tmp_path: Any) -> None:
    log_summary: list[str] = []
    engine = engine_that_says(tmp_path, CompletedProcess([], 255, "", "error: the file is at fault\n"))
    assert wanted_at_google(engine, log_summary.append) == []
    assert "the file is at fault" in log_summary[0]


def test_an_adopted_cluster_still_has_its_default_pool_to_be_removed() -> None:
    taken = adopted(CLUSTER, PATH)
    assert taken["id"] == PATH and taken["inputs"]["removeDefaultNodePool"] is True
    assert "removeDefaultNodePool" not in taken["outputs"]


def test_googles_default_pool_is_not_taken_for_the_programs_own() -> None:
    finished = {**CLUSTER, "id": PATH, "outputs": CLUSTER["inputs"]}
    assert googles_own([adopted(CLUSTER, PATH)]) == {f"{PATH}/nodePools/default-pool"}
    assert googles_own([finished]) == set()


@pytest.mark.parametrize(
    ("kind", "inputs", "wanted"),
    [
        ("gcp:container/cluster:Cluster", CLUSTER["inputs"], PATH),
        ("gcp:container/nodePool:NodePool", {"project": "p", "location": "l", "name": "n"}, None),
        ("gcp:projects/service:Service", {"project": "p", "service": "compute.googleapis.com"}, None),
        ("kubernetes:core/v1:ConfigMap", {"metadata": {"namespace": "a", "name": "b"}}, "a/b"),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "b"}}, "b"),
    ],
)
def test_ids_are_the_providers(kind: str, inputs: dict[str, Any], wanted: str | None) -> None:
    """None where a part of it is not known, and where making it again is no error."""
    assert resource_id({"type": kind, "inputs": inputs}) == wanted


def google_that_refuses(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    def google(_layout: Layout, method: str, path: str) -> Any:
        raise RehearsalError(f"{method} {path}: {answer}")

    monkeypatch.setattr(recovery, "google", google)


DISABLED = "403 Kubernetes Engine API has not been used in project 1 before or it is disabled."


def test_a_run_that_stopped_before_any_api_was_enabled_has_created_nothing(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [step("create", CLUSTER["type"], **CLUSTER["inputs"])]
    engine = engine_that_says(tmp_path, CompletedProcess([], 0, json.dumps({"steps": steps}), ""))
    google_that_refuses(monkeypatch, DISABLED)
    assert made_and_lost(engine, [], lambda _: None) == []


def test_any_other_refusal_stops_the_recovery(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step("create", CLUSTER["type"], **CLUSTER["inputs"])]
    engine = engine_that_says(tmp_path, CompletedProcess([], 0, json.dumps({"steps": steps}), ""))
    google_that_refuses(monkeypatch, "403 permission denied")
    with pytest.raises(RehearsalError, match="permission denied"):
        made_and_lost(engine, [], lambda _: None)


def test_a_cluster_in_the_state_is_not_lost_because_its_api_is_disabled(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its objects would be dropped from the state."""
    google_that_refuses(monkeypatch, DISABLED)
    engine = Engine(Layout(tmp_path / ".rehearsal", tmp_path))
    known = [{**CLUSTER, "id": PATH}, {"type": "kubernetes:core/v1:ConfigMap"}]
    with pytest.raises(RehearsalError, match="has not been used"):
        recovery.without_lost_cluster(engine, known, lambda _: None)
