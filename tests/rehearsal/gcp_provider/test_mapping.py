"""Every property that is sent has a place in Google's own description of its API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import googleapiclient
import pytest

from rehearsal.gcp_provider import wire
from rehearsal.gcp_provider.resources import KINDS
from rehearsal.gcp_provider.resources.pool_body import POOL, pool_types, request
from rehearsal.gcp_provider.terraform.mapping import DEFAULTS, expand, flatten, imported, inputs_from, join
from rehearsal.gcp_provider.terraform.package import Property, properties
from rehearsal.gcp_provider.terraform.rules import PLAIN, FieldRules

pytestmark = pytest.mark.unit
SCHEMAS = {
    "gcp:compute/network:Network": ("compute.v1", "Network"),
    "gcp:compute/subnetwork:Subnetwork": ("compute.v1", "Subnetwork"),
    "gcp:compute/router:Router": ("compute.v1", "Router"),
    "gcp:compute/routerNat:RouterNat": ("compute.v1", "RouterNat"),
    "gcp:compute/firewall:Firewall": ("compute.v1", "Firewall"),
    "gcp:compute/resourcePolicy:ResourcePolicy": ("compute.v1", "ResourcePolicy"),
    "gcp:container/cluster:Cluster": ("container.v1beta1", "Cluster"),
    "gcp:container/nodePool:NodePool": ("container.v1beta1", "NodePool"),
}


@cache
def schemas(api: str) -> dict[str, Any]:
    folder = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"
    return dict(json.loads((folder / f"{api}.json").read_text())["schemas"])


def _resolve(api: str, schema: Any) -> Any:
    while schema is not None and "$ref" in schema:
        schema = schemas(api)[schema["$ref"]]
    return schema


def _at(api: str, schema: Any, path: str) -> Any:
    for name in path.split("."):
        schema = _resolve(api, schema)
        schema = None if schema is None else schema.get("properties", {}).get(name)
    return _resolve(api, schema)


def homeless(api: str, schema: Any, types: Mapping[str, Property], table: FieldRules, path: str = "") -> Iterator[str]:
    """Properties with no place at Google, those inside objects included."""
    for name, prop in types.items():
        here = join(path, name)
        rule = table.get(here, PLAIN)
        if rule.local or rule.unsupported:
            continue
        found = _at(api, schema, rule.api or name)
        cls = prop.kind.cls if prop.kind.cls is not None else prop.kind.item.cls if prop.kind.item is not None else None
        if found is None:
            yield here
        elif cls is not None:
            inner = _resolve(api, found.get("items", found))
            yield from homeless(api, inner, properties(cls), table, here)


@pytest.mark.parametrize("token", sorted(SCHEMAS))
def test_every_property_has_a_place_in_googles_description(token: str) -> None:
    api, name = SCHEMAS[token]
    kind = KINDS[token]
    assert list(homeless(api, schemas(api)[name], kind.types.inputs, kind.table)) == []


@pytest.mark.parametrize("token", sorted(KINDS))
def test_every_rule_is_about_a_property_of_the_package(token: str) -> None:
    known = set(_paths(KINDS[token].types.outputs))
    assert sorted(path for path in KINDS[token].table if path not in known) == []


def _paths(types: Mapping[str, Property], path: str = "") -> Iterator[str]:
    for name, prop in types.items():
        yield join(path, name)
        cls = prop.kind.cls if prop.kind.cls is not None else prop.kind.item.cls if prop.kind.item is not None else None
        if cls is not None:
            yield from _paths(properties(cls), join(path, name))


def test_zeros_are_left_out_except_where_they_say_something() -> None:
    sent = request(
        {"autoscaling": {"maxNodeCount": 4}, "nodeCount": 0, "management": {"autoRepair": False, "autoUpgrade": True}},
        "dws",
    )
    limits = {"enabled": True, "minNodeCount": 0, "maxNodeCount": 4, "totalMinNodeCount": 0, "totalMaxNodeCount": 0}
    assert sent["autoscaling"] == limits
    assert "initialNodeCount" not in sent
    assert sent["management"] == {"autoUpgrade": True}


def test_a_flex_start_pool_is_sent_as_the_real_provider_sends_it() -> None:
    sent = request(
        {
            "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"},
            "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
            "queuedProvisioning": {"enabled": True},
            "nodeConfig": {
                "flexStart": True,
                "maxRunDuration": "604800s",
                "machineType": "ct6e-standard-4t",
                "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
            },
        },
        "dws-pool",
    )
    assert sent["config"]["flexStart"] is True
    assert sent["config"]["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert sent["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}
    assert sent["queuedProvisioning"] == {"enabled": True}
    assert len(sent["config"]["oauthScopes"]) == 6


def test_what_is_sent_reads_back_as_it_was_stated() -> None:
    stated = {
        "nodeLocations": ["us-west4-a"],
        "maxPodsPerNode": 32,
        "nodeConfig": {
            "machineType": "n2-standard-4",
            "guestAccelerators": [{"type": "t", "count": 1}],
            "loggingVariant": "DEFAULT",
        },
        "nodeDrainConfigs": [{"respectPdbDuringNodePoolDeletion": True}],
    }
    sent = expand(pool_types(), stated, POOL)
    assert sent["config"]["accelerators"] == [{"acceleratorType": "t", "acceleratorCount": 1}]
    assert sent["config"]["loggingConfig"] == {"variantConfig": {"variant": "DEFAULT"}}
    assert sent["maxPodsConstraint"] == {"maxPodsPerNode": 32}
    assert sent["nodeDrainConfig"] == {"respectPdbDuringNodePoolDeletion": True}
    read = flatten(pool_types(), sent, POOL)
    assert inputs_from(stated, read, pool_types(), POOL) == stated


def test_googles_numbers_in_strings_are_numbers() -> None:
    assert flatten(pool_types(), {"maxPodsConstraint": {"maxPodsPerNode": "110"}}, POOL)["maxPodsPerNode"] == 110


def test_secrets_and_unknowns_survive_the_wire() -> None:
    sent = wire.encode({"a": {"b": [wire.UNKNOWN, 1, 1.5, True, None]}, "s": "x", "n": {"in": wire.Secret("y")}}, {"s"})
    values, secrets = wire.decode(sent)
    assert values == {"a": {"b": [wire.UNKNOWN, 1, 1.5, True, None]}, "s": "x", "n": {"in": "y"}}
    assert secrets == {"s", "n"}


@pytest.mark.parametrize(
    ("token", "outputs", "stated"),
    [
        (
            "gcp:compute/network:Network",
            {"name": "n", "autoCreateSubnetworks": False},
            {"name": "n", "autoCreateSubnetworks": False},
        ),
        ("gcp:compute/network:Network", {"name": "n", "autoCreateSubnetworks": True}, {"name": "n"}),
        (
            "gcp:compute/firewall:Firewall",
            {"network": "n", "priority": 0, "disabled": False},
            {"network": "n", "priority": 0},
        ),
        ("gcp:compute/firewall:Firewall", {"network": "n", "priority": 1000}, {"network": "n"}),
        (
            "gcp:container/cluster:Cluster",
            {"enableShieldedNodes": False, "enableLegacyAbac": False},
            {"enableShieldedNodes": False},
        ),
        ("gcp:container/cluster:Cluster", {"enableShieldedNodes": True}, {}),
    ],
)
def test_an_import_keeps_a_zero_where_the_default_is_something_else(
    token: str, outputs: dict[str, Any], stated: dict[str, Any]
) -> None:
    """Left out, `autoCreateSubnetworks: false` would come back as true, and replace the network."""
    kind = KINDS[token]
    assert imported(kind.types.inputs, outputs, kind.table) == {DEFAULTS: [], **stated}
