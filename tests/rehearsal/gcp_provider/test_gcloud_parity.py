"""What the provider asks of GKE for the tutorials' pools, against what Google's own gcloud sends for their commands.

Each field that differs stands in a table with its reason; a difference that is not in the table, or is no longer one, fails. The
recorded bodies are held against today's gcloud in tests/rehearsal/gcloud.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from rehearsal.gcp_provider.protocol import engine as provider
from rehearsal.gcp_provider.resources import KINDS
from rehearsal.gcp_provider.resources.pool_body import request
from tests.rehearsal.gcp_provider.conftest import PROJECT, Engine
from tests.support.platforms import plan_with, run_platform
from tests.support.recording import record

pytestmark = pytest.mark.unit
POOL = "gcp:container/nodePool:NodePool"
RECORDED = Path(__file__).parents[1] / "gcp" / "gcloud_bodies.json"
ABSENT = "-"


def recorded(name: str) -> dict[str, Any]:
    """The pool of gcloud's request."""
    cases = {case["name"]: case for case in json.loads(RECORDED.read_text())}
    return dict(cases[name]["body"]["nodePool"])


Differences = dict[str, tuple[Any, Any]]
"""By field: (what the provider sends, what gcloud sends)."""

OF_THE_PROVIDER: Differences = {
    # The provider's schema requires a placement's type; GKE fills in the same one where gcloud is silent.
    "placementPolicy.type": ("COMPACT", ABSENT),
    # The provider's default for a block that is stated. It is GKE's default too.
    "upgradeSettings.strategy": ("SURGE", ABSENT),
    # The provider always sends the block (`expandNodeNetworkConfig`); with nothing in it, it asks for nothing.
    "networkConfig": ({}, ABSENT),
}
OF_THE_PROGRAM: Differences = {
    # Nodes run as an account of their own: the default one may hold the Editor role.
    "config.serviceAccount": (f"multislice-cluster-nodes@{PROJECT}.iam.gserviceaccount.com", ABSENT),
    # The account's roles are the limit. Narrow scopes are what holds a default account back.
    "config.oauthScopes": (
        ["https://www.googleapis.com/auth/cloud-platform"],
        recorded("nodepool1")["config"]["oauthScopes"],
    ),
    # What the firewall rule for webhooks selects.
    "config.tags": (["multislice-cluster-node"], ABSENT),
    # Image streaming: images of several gigabytes start in seconds.
    "config.gcfsConfig.enabled": (True, ABSENT),
    # Workload Identity: without the metadata server pods get the node's identity.
    "config.workloadMetadataConfig.mode": ("GKE_METADATA", ABSENT),
}
OF_AUTOSCALING: Differences = {
    # The provider states both pairs of limits, whichever the program uses; zero is not a limit.
    "autoscaling.totalMinNodeCount": (0, ABSENT),
    "autoscaling.totalMaxNodeCount": (0, ABSENT),
    # The provider takes 0 for not stated; a pool with autoscaling then starts with none.
    "initialNodeCount": (ABSENT, 0),
}
OF_FLEX_START: Differences = {
    # Google's guide to flex-start pools states these; the tutorial's command leaves them to GKE.
    "autoscaling.locationPolicy": ("ANY", ABSENT),
    "config.maxRunDuration": ("604800s", ABSENT),
    "config.reservationAffinity.consumeReservationType": ("NO_RESERVATION", ABSENT),
    # Nodes of a flex-start slice are not repaired one by one: the guide switches it off. False is left out, as Go does.
    "management.autoRepair": (ABSENT, True),
}

V6E: dict[str, Any] = {
    "cluster": "tpu-cluster",
    "location": "us-east5-b",
    "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
    "upgradeSettings": {"maxSurge": 1},
}
ON_DEMAND: dict[str, Any] = {
    **V6E,
    "name": "on-demand-pool",
    "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4},
    "management": {"autoRepair": True, "autoUpgrade": True},
    "nodeConfig": {
        "machineType": "ct6e-standard-4t",
        "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    },
}
DWS: dict[str, Any] = {
    **V6E,
    "name": "dws-pool",
    "initialNodeCount": 0,
    "queuedProvisioning": {"enabled": True},
    "autoscaling": {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"},
    "management": {"autoRepair": False, "autoUpgrade": True},
    "nodeConfig": {
        "machineType": "ct6e-standard-4t",
        "flexStart": True,
        "maxRunDuration": "604800s",
        "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
    },
}


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a body by dotted path; lists and empty objects are leaves."""
    if isinstance(value, Mapping) and value:
        for name, entry in value.items():
            yield from fields(entry, f"{path}.{name}" if path else name)
    else:
        yield path, value


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> Differences:
    left, right = dict(fields(ours)), dict(fields(theirs))
    both = {path: (left.get(path, ABSENT), right.get(path, ABSENT)) for path in {*left, *right}}
    return {path: pair for path, pair in both.items() if pair[0] != pair[1]}


def test_the_program_s_slices_ask_for_what_gcloud_asks_but_for_these_fields(ready: Engine) -> None:
    """From the program's own inputs, by the provider, to the request as it arrives at Google's server."""
    program = record(lambda: run_platform(plan_with(project=PROJECT)))
    slices = [entry.inputs for entry in program.of_type(POOL) if entry.inputs["name"] != "default-pool"]
    body = {"cluster": {"name": "multislice-cluster", "initialNodeCount": 1}}
    parent = f"projects/{PROJECT}/locations/us-west4"
    requests.post(f"{ready.google}/v1/{parent}/clusters", json=body, timeout=10).raise_for_status()
    for inputs in slices:
        ready.create(POOL, inputs["name"], inputs)
    sent = {call["body"]["nodePool"]["name"]: call["body"]["nodePool"] for call in ready.audit("nodePools.create")}
    expected = {**OF_THE_PROVIDER, **OF_THE_PROGRAM}
    names = ["nodepool1", "nodepool2", "nodepool3"]
    assert sorted(sent) == names
    for name in names:
        assert differences(sent[name], {**recorded("nodepool1"), "name": name}) == expected, name


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        pytest.param(ON_DEMAND, {**OF_THE_PROVIDER, **OF_AUTOSCALING}, id="on-demand-pool"),
        pytest.param(DWS, {**OF_THE_PROVIDER, **OF_AUTOSCALING, **OF_FLEX_START}, id="dws-pool"),
    ],
)
def test_a_v6e_pool_is_asked_for_as_gcloud_asks_but_for_these_fields(
    inputs: dict[str, Any], expected: Differences
) -> None:
    checked, failures = provider.check(KINDS[POOL], {}, inputs, provider.Naming(inputs["name"], b"seed"))
    assert failures == []
    sent = request(provider.stripped(checked), inputs["name"])
    assert differences(sent, recorded(inputs["name"])) == expected


@pytest.mark.parametrize(("inputs", "flex"), [(ON_DEMAND, False), (DWS, True)], ids=["on-demand-pool", "dws-pool"])
def test_a_v6e_pool_reads_back_as_it_was_asked_for(ready: Engine, inputs: dict[str, Any], flex: bool) -> None:
    """The program's output `node_config.flex_start` is what the program goes by, and a second preview shows nothing."""
    body = {"cluster": {"name": "tpu-cluster", "initialNodeCount": 1}}
    parent = f"projects/{PROJECT}/locations/us-east5-b"
    requests.post(f"{ready.google}/v1/{parent}/clusters", json=body, timeout=10).raise_for_status()
    identity, created, checked = ready.create(POOL, inputs["name"], inputs)
    _, found, refreshed = ready.read(POOL, identity, created, checked)
    for outputs in (created, found):
        assert outputs["nodeConfig"].get("flexStart", False) is flex
        assert not list(ready.diff(POOL, identity, outputs, checked).diffs)
    assert refreshed == checked
