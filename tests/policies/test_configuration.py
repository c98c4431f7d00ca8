"""How strictly policies hold, and over what of a preview they are asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policies import check, configuration
from policies.check import UNUSABLE, VIOLATED, report, resources_of
from policies.configuration import ConfigurationError, in_production, load, parse, privileged_jobs
from policies.model import Resource
from policies.rules import RULES
from tests.policies.objects import UNKNOWN, changed, cluster, pod

pytestmark = pytest.mark.policies


def preview(*resources: Resource, **config: Any) -> dict[str, Any]:
    steps = [
        {"op": "create", "urn": r.urn, "newState": {"urn": r.urn, "type": r.type, "inputs": dict(r.properties)}}
        for r in resources
    ]
    return {"config": {f"tpu-platform:{key}": json.dumps(value) for key, value in config.items()}, "steps": steps}


BARE = preview(Resource(cluster().type, "cluster", {}, cluster().urn))


def test_the_committed_configuration_names_every_parameter_with_its_default() -> None:
    """So that whoever looks for what can be set finds it there."""
    stated = load()
    assert {rule.name: dict(rule.parameters) for rule in RULES if rule.parameters} == {
        name: dict(parameters) for name, parameters in stated.parameters.items() if parameters
    }
    assert [rule.name for rule in RULES if stated.level(rule) == "advisory"] == ["labelled-for-cost"]


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        (
            {},
            {"control-plane-guarded": "mandatory", "deletion-protected": "mandatory", "labelled-for-cost": "advisory"},
        ),
        (
            {"all": "advisory", "deletion-protected": "mandatory"},
            {"control-plane-guarded": "advisory", "deletion-protected": "mandatory", "labelled-for-cost": "advisory"},
        ),
        (
            {"all": "disabled", "deletion-protected": {"enforcementLevel": "advisory"}},
            {"deletion-protected": "advisory"},
        ),
        (
            {"control-plane-guarded": "disabled", "deletion-protected": {"productionStacks": ["live"]}},
            {"labelled-for-cost": "advisory"},
        ),
        (
            {"labelled-for-cost": {"labels": []}},
            {"control-plane-guarded": "mandatory", "deletion-protected": "mandatory"},
        ),
    ],
)
def test_levels_and_parameters(stated: dict[str, Any], wanted: dict[str, str]) -> None:
    found = report(BARE, "prod", parse(stated))
    assert {violation.policy: violation.level for violation in found.violations} == wanted
    assert found.holds == ("mandatory" not in wanted.values())


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ([], "an object by policy is wanted"),
        ({"images-pined": "advisory"}, "images-pined: no such policy; there are tpu-work-in-a-queue, "),
        (
            {"images-pinned": "strict"},
            "images-pinned: the level is 'strict'; write one of advisory, mandatory, disabled",
        ),
        ({"images-pinned": {"labels": []}}, "images-pinned.labels: no such parameter; it has none"),
        ({"labelled-for-cost": {"labels": "team"}}, "labelled-for-cost.labels: a list of words is wanted, got 'team'"),
    ],
)
def test_what_cannot_be_meant_is_refused(stated: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse(stated)
    assert str(refused.value).startswith(message)


def test_production_is_told_by_the_stacks_name() -> None:
    patterns = ("prod", "prod-*", "*-prod")
    names = ["prod", "prod-eu", "eu-prod", "dev", "staging", "nonprod", "preprod", "production"]
    assert [name for name in names if in_production(name, patterns)] == ["prod", "prod-eu", "eu-prod"]


@pytest.mark.parametrize(
    ("workloads", "wanted"),
    [
        ([{"name": "a", "privileged": True}, {"name": "b", "privileged": False}, {"name": "c"}], {"a"}),
        ([], set()),
        (None, set()),
    ],
)
def test_jobs_that_the_stack_file_declares_privileged(workloads: Any, wanted: set[str]) -> None:
    assert privileged_jobs(workloads) == wanted
    taken = changed(pod(), "spec.hostNetwork", True)
    declared = report(preview(taken, workloads=[{"name": "pod", "privileged": True}]), "dev")
    assert (declared.violations, report(preview(taken, workloads=workloads), "dev").holds) == ((), False)


def test_a_preview_is_read_as_what_the_stack_will_be() -> None:
    """Not what goes, not what is only read, and a replaced resource once."""
    new = {"urn": "urn:pulumi:dev::p::t::a::b", "type": "t", "inputs": {"x": 1}}
    read = {"urn": "urn:pulumi:dev::p::t::read", "type": "t", "external": True}
    steps = [
        {"op": "create-replacement", "urn": new["urn"], "newState": new},
        {"op": "replace", "urn": new["urn"], "newState": new},
        {"op": "delete-replaced", "urn": new["urn"], "oldState": new},
        {"op": "delete", "urn": "urn:pulumi:dev::p::t::gone", "oldState": {}},
        {"op": "read", "urn": read["urn"], "newState": read},
    ]
    assert resources_of({"steps": steps}) == [Resource("t", "a::b", {"x": 1}, new["urn"])]


def test_secrets_are_read_where_the_engine_shows_them_and_unknown_where_not() -> None:
    marked = "4dabf18193072939515e22adb298388d"
    secret = {"deletionProtection": {marked: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1:..."}}
    hidden = report(preview(Resource(cluster().type, "cluster", secret, cluster().urn)), "prod")
    assert "deletion-protected" in {found.policy for found in hidden.undecided}
    shown = changed(cluster(), "deletionProtection", {marked: "1b47061264138c4ac30d75fd1eb44270", "plaintext": True})
    assert report(preview(shown), "prod").holds


def test_what_is_undecided_breaks_nothing_and_is_said() -> None:
    found = report(preview(changed(cluster(), "deletionProtection", UNKNOWN)), "prod")
    assert found.holds
    said = "not known before `up`: deletion-protected: cluster: whether it is protected from deletion is not known yet"
    assert said in found.lines()


def test_the_commands_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, levels = tmp_path / "preview.json", tmp_path / "levels.json"
    levels.write_text('{"all": "advisory"}')
    file.write_text(json.dumps(BARE))
    assert check.main([str(file), "--env", "dev"]) == 0
    assert check.main([str(file), "--env", "prod"]) == VIOLATED
    assert check.main([str(file), "--env", "prod", "--config", str(levels)]) == 0
    for broken in ("{}", "[", '{"steps": {}}'):
        file.write_text(broken)
        assert check.main([str(file), "--env", "prod"]) == UNUSABLE
    assert check.main([str(tmp_path / "none"), "--env", "prod"]) == UNUSABLE
    assert check.main([str(file), "--env", "prod", "--config", str(tmp_path / "none")]) == UNUSABLE
    assert "Traceback" not in capsys.readouterr().err


def test_the_configuration_that_is_used_is_the_one_that_the_workflows_give_the_engine() -> None:
    root = Path(__file__).resolve().parents[2]
    assert root / "policies" / "config.json" == configuration.DEFAULT_FILE
