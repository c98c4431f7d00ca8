"""The schema of stack files: current, valid itself, true of every committed file, and of use against wrong ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from operations.json_schema import text
from settings.catalogue.accelerators import MACHINE_TYPES
from settings.schema.json_schema import HEAD, PATH

pytestmark = pytest.mark.config

ROOT = Path(__file__).resolve().parents[2]
STACKS = sorted(ROOT.glob("Pulumi.*.yaml"))
SCHEMA = json.loads((ROOT / PATH).read_text())
VALIDATOR = Draft202012Validator(SCHEMA)

Config = dict[str, Any]


def dev() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    return content


def with_config(change: Callable[[Config], Any]) -> dict[str, Any]:
    content = dev()
    change(content["config"])
    return content


def places(content: Any) -> list[str]:
    """Where the validator finds something wrong: the key at fault, or the place of a key that is unknown or missing."""
    return sorted("/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(content))


def test_the_committed_schema_is_what_the_model_gives() -> None:
    assert (ROOT / PATH).read_text() == text(ROOT), "run `make schema`"


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_a_committed_stack_file_is_valid_and_names_the_schema(path: Path) -> None:
    assert places(yaml.safe_load(path.read_text())) == []
    assert path.read_text().startswith(HEAD), "run `make schema`"


@pytest.mark.parametrize("machine", MACHINE_TYPES.values(), ids=MACHINE_TYPES)
def test_every_topology_of_the_catalogue_is_taken(machine: Any) -> None:
    content = dev()
    for topology in machine.topologies():
        content["config"]["tpu-platform:slices"][0].update(machineType=machine.name, topology=topology)
        assert places(content) == []


def slice_with(**changes: Any) -> Callable[[Config], Any]:
    return lambda config: config["tpu-platform:slices"][0].update(changes)


def key(name: str, value: Any) -> Callable[[Config], Any]:
    return lambda config: config.update({f"tpu-platform:{name}": value})


BAD: list[tuple[str, Callable[[Config], Any], str]] = [
    ("topology of another machine type", slice_with(topology="3x4"), "config/tpu-platform:slices/0/topology"),
    ("no such machine type", slice_with(machineType="ct5lp-hightpu-3t"), "config/tpu-platform:slices/0/machineType"),
    ("no such capacity", slice_with(capacity="dws"), "config/tpu-platform:slices/0/capacity"),
    ("unknown key", slice_with(spot=True), "config/tpu-platform:slices/0"),
    ("text for a number", slice_with(nodes="2"), "config/tpu-platform:slices/0/nodes"),
    ("missing key", lambda c: c["tpu-platform:slices"][0].pop("zone"), "config/tpu-platform:slices/0"),
    ("missing top-level key", lambda c: c.pop("tpu-platform:project"), "config"),
    ("unknown top-level key", key("clusters", {}), "config"),
    ("key without a prefix", lambda c: c.update(labels={}), "config"),
    ("project with capitals", key("project", "My-Project"), "config/tpu-platform:project"),
    ("version as a number", lambda c: c["tpu-platform:cluster"].update(version=1.34), "config/tpu-platform:cluster/version"),
    ("channel in small letters", lambda c: c["tpu-platform:cluster"].update(releaseChannel="rapid"), "config/tpu-platform:cluster/releaseChannel"),
    ("quotes around a boolean", key("deletionProtection", "true"), "config/tpu-platform:deletionProtection"),
    ("label with capitals", key("labels", {"Team": "a"}), "config/tpu-platform:labels"),
    ("number for a label", key("labels", {"cost": 24}), "config/tpu-platform:labels/cost"),
    ("not a range", key("network", {"podsCidr": "10.64.0.0"}), "config/tpu-platform:network/podsCidr"),
    ("time in words", key("timeouts", {"pool": "90 minutes"}), "config/tpu-platform:timeouts/pool"),
    ("price of no kind", key("prices", {"chipHour": {"v6e": {"dws": 1}}}), "config/tpu-platform:prices/chipHour/v6e"),
    ("price below zero", key("prices", {"chipHour": {"v6e": {"spot": -1}}}), "config/tpu-platform:prices/chipHour/v6e/spot"),
    ("capacity of no generation", key("tpuCapacity", {"v9": ["spot"]}), "config/tpu-platform:tpuCapacity"),
    ("zones of no family", key("tpuZones", {"ct9": ["us-west4-a"]}), "config/tpu-platform:tpuZones"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "place"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_one_mistake_is_found_where_it_is(change: Callable[[Config], Any], place: str) -> None:
    assert set(places(with_config(change))) == {place}


def test_keys_of_providers_are_nobodys_business_and_others_of_the_file_are() -> None:
    assert places(with_config(lambda config: config.update({"gcp:project": "x", "pulumi:tags": {}}))) == []
    assert places({**dev(), "confg": {}}) == [""]


def properties() -> Iterator[tuple[str, dict[str, Any]]]:
    for section in (SCHEMA["properties"]["config"], *SCHEMA["$defs"].values()):
        yield from section["properties"].items()


def test_every_key_that_the_model_explains_is_explained_in_an_editor() -> None:
    described: dict[str, str] = {key: schema.get("description", "") for key, schema in properties()}
    assert described["privateEndpoint"].startswith("No public address")
    assert described["chipHour"].startswith("By generation (v6e)")
    assert all(text for key, text in described.items() if key.startswith("tpu-platform:"))
