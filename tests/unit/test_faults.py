"""Bad configurations: each fault by its key, with the value, the rule and the way out; and all of them at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import TUTORIAL, as_config, changed

from settings.faults import ConfigurationError
from settings.plan import plan_from

pytestmark = pytest.mark.unit

SLICES = TUTORIAL["slices"][0]
JOB = TUTORIAL["workloads"][0]


def faults_of(**changes: Any) -> dict[str, tuple[str, str]]:
    """Path -> (what was wanted, remedy)."""
    with pytest.raises(ConfigurationError) as caught:
        plan_from(as_config(changed(**changes)), Path("/nowhere"))
    return {fault.path: (fault.wanted, fault.remedy) for fault in caught.value.faults}


def slices(**changes: Any) -> list[dict[str, Any]]:
    return [{**SLICES, **changes}]


def jobs(**changes: Any) -> list[dict[str, Any]]:
    return [{**JOB, **changes}]


def cluster(**changes: Any) -> dict[str, Any]:
    return {**TUTORIAL["cluster"], **changes}


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("no such topology", {"slices": slices(topology="3x4")}, "slices[0].topology", "2x4", "write 2x4"),
    (
        "topology of another machine type",
        {"slices": slices(machineType="ct5lp-hightpu-8t", topology="4x4"), "workloads": []},
        "slices[0].topology",
        "ct5lp-hightpu-8t makes: 2x4",
        "ct5lp-hightpu-4t",
    ),
    ("zone without the TPU", {"slices": slices(zone="us-west4-b")}, "slices[0].zone", "us-west4-a", "write us-west4-a"),
    ("zone of another region", {"slices": slices(zone="us-west1-c")}, "slices[0].zone", "region us-west4", "location: us-west1"),
    ("no such machine type", {"slices": slices(machineType="ct5lp-hightpu-5t")}, "slices[0].machineType", "catalogue", "write ct5lp-hightpu"),
    ("quota below a slice", {"slices": slices(quota=4), "workloads": []}, "slices[0].quota", "at least one slice, 8 chips", "write 8"),
    ("quota zero is a value", {"slices": slices(quota=0), "workloads": []}, "slices[0].quota", "at least one slice", "write 8"),
    ("quota above the pools", {"slices": slices(quota=32)}, "slices[0].quota", "24 chips", "write 24"),
    ("quota of a part of a slice", {"slices": slices(quota=12), "workloads": []}, "slices[0].quota", "multiples of 8", "write 8"),
    ("more slices than pools", {"workloads": jobs(slices=4)}, "workloads[0].slices", "at most 3", "list 1 more"),
    ("more slices than quota", {"slices": slices(quota=16), "workloads": jobs(slices=3)}, "workloads[0].slices", "at most 2", "raise slices[0].quota"),
    ("no slices", {"workloads": jobs(slices=0)}, "workloads[0].slices", "greater than or equal to 1", ""),
    ("empty name", {"cluster": cluster(name="")}, "cluster.name", "1 to 40 characters", "give it a name"),
    ("long cluster name", {"cluster": cluster(name="a" * 70)}, "cluster.name", "1 to 40 characters", "it has 70 characters"),
    ("capitals", {"cluster": cluster(name="MyCluster")}, "cluster.name", "a-z", "write mycluster"),
    ("long job name", {"workloads": jobs(name="a" * 70)}, "workloads[0].name", "characters of a-z", "70 characters"),
    ("job name whose pods are too long", {"workloads": jobs(name="a" * 60)}, "workloads[0].name", "at most 47 characters", "shorten it by 13"),
    ("job name with capitals", {"workloads": jobs(name="Train")}, "workloads[0].name", "a-z", "write train"),
    ("job name that starts with a digit", {"workloads": jobs(name="1slice")}, "workloads[0].name", "first a letter", ""),
    ("number for text", {"slices": slices(topology=24)}, "slices[0].topology", "text", "quotes"),
    ("version as a number", {"cluster": cluster(version=1.34)}, "cluster.version", "text", "quotes"),
    ("text for a number", {"workloads": jobs(slices="3")}, "workloads[0].slices", "a whole number", ""),
    ("text for a boolean", {"deletionProtection": "maybe"}, "deletionProtection", "type in Pulumi.yaml", ""),
    ("text for a list", {"slices": slices(pools="nodepool1")}, "slices[0].pools", "a list", ""),
    ("unknown key", {"slices": slices(topolgy="2x4")}, "slices[0].topolgy", "a known key", "write topology"),
    ("unknown top-level key", {"slcies": []}, "slcies", "a known key", "write slices"),
    ("missing key", {"cluster": {}}, "cluster.name", "must be set", "add `name`"),
    ("missing section", {"slices": None}, "slices", "must be set", "add `slices`"),
    ("no pool", {"slices": slices(pools=[]), "workloads": []}, "slices[0].pools", "at least one", ""),
    ("pool twice", {"slices": slices(pools=["a", "a"]), "workloads": []}, "slices[0].pools[1]", "also slices[0].pools[0]", ""),
    ("pool of system pods", {"slices": slices(pools=["default-pool"]), "workloads": []}, "slices[0].pools[0]", "system pods", ""),
    ("job twice", {"workloads": [JOB, JOB]}, "workloads[1].name", "listed once", ""),
    ("waits for nobody", {"workloads": jobs(after=["multislice-3slic"])}, "workloads[0].after[0]", "a job in workloads", "write multislice-3slice"),
    ("waits for itself", {"workloads": jobs(after=["multislice-3slice"])}, "workloads[0].after[0]", "another job", "remove"),
    (
        "waits in a circle",
        {"workloads": [{"name": "a", "slices": 1, "after": ["b"]}, {"name": "b", "slices": 1, "after": ["a"]}]},
        "workloads[0].after",
        "order that can happen",
        "remove one",
    ),
    ("unknown flavor", {"workloads": jobs(flavor="vlp-25")}, "workloads[0].flavor", "vlp-24", "write vlp-24"),
    ("old version", {"cluster": cluster(version="1.26")}, "cluster.version", "at least 1.27.4-gke.900", "or later"),
    ("not a version", {"cluster": cluster(version="latest")}, "cluster.version", "a GKE version", "1.34"),
    ("not a channel", {"cluster": cluster(releaseChannel="rapid")}, "cluster.releaseChannel", "RAPID", "write RAPID"),
    ("project with capitals", {"project": "My-Project"}, "project", "project id", "write my-project"),
    ("not a location", {"location": "west"}, "location", "region", ""),
    ("not a range", {"network": {"podsCidr": "10.0.0.0/8x"}}, "network.podsCidr", "IPv4 range", ""),
    ("ranges overlap", {"network": {"podsCidr": "10.128.0.0/14"}}, "network.podsCidr", "outside network.nodesCidr", "move"),
    ("too few pod addresses", {"network": {"podsCidr": "10.64.0.0/22"}}, "network.podsCidr", "room for 8 nodes", "/21"),
    ("control plane of another size", {"network": {"controlPlaneCidr": "172.16.0.0/24"}}, "network.controlPlaneCidr", "a /28", "172.16.0.0/28"),
    ("missing chart", {"charts": {"kueue": "no/such/folder"}}, "charts.kueue", "Chart.yaml", "correct the path"),
    ("unknown family of zones", {"tpuZones": {"ct5lpp": ["us-west4-a"]}}, "tpuZones.ct5lpp", "a family", "write ct5lp"),
    ("not a time", {"timeouts": {"pool": "0m"}}, "timeouts.pool", "a time like", ""),
    ("label with capitals", {"labels": {"Team": "a"}}, "labels.Team", "a-z", ""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "path", "wanted", "remedy"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_each_fault_names_its_key_the_rule_and_the_way_out(changes, path, wanted, remedy) -> None:
    faults = faults_of(**changes)
    assert path in faults, f"found only {list(faults)}"
    assert wanted in faults[path][0]
    assert remedy in faults[path][1]


@pytest.mark.parametrize(("changes", "path"), [case[1:3] for case in CASES], ids=[case[0] for case in CASES])
def test_one_mistake_gives_one_fault(changes, path) -> None:
    """But a circle is a fault of each job in it, and a wrong location also leaves the slices' zones outside of it."""
    expected = {"workloads[0].after": 2, "location": 2}.get(path, 1)
    assert len(faults_of(**changes)) == expected


def test_all_faults_come_at_once_in_one_report() -> None:
    changes = {
        "cluster": cluster(name="Big"),
        "slices": slices(topology="3x4", zone="us-west4-b"),
        "workloads": jobs(after=["nobody"]),
        "charts": {"jobset": "nowhere"},
    }
    with pytest.raises(ConfigurationError) as caught:
        plan_from(as_config(changed(**changes)), Path("/nowhere"))
    paths = {fault.path for fault in caught.value.faults}
    assert paths == {"cluster.name", "slices[0].topology", "slices[0].zone", "workloads[0].after[0]", "charts.jobset"}
    text = str(caught.value)
    assert text.startswith("5 faults in the configuration; nothing has been created or changed.")
    assert "tpu-platform:slices[0].topology\n" in text
    assert "got:    '3x4'" in text
    assert "Traceback" not in text


def test_two_groups_of_the_same_shape_are_refused() -> None:
    twice = [SLICES, {**SLICES, "flavor": "other", "pools": ["nodepool4"]}]
    assert "slices[1].topology" in faults_of(slices=twice, workloads=[])


def test_a_zonal_cluster_takes_slices_of_its_zone_only() -> None:
    faults = faults_of(location="us-west4-b")
    assert "location: us-west4" in faults["slices[0].zone"][1]


def test_a_stack_can_state_a_zone_that_the_catalogue_does_not_know() -> None:
    config = as_config(changed(slices=slices(zone="us-west4-b"), tpuZones={"ct5lp": ["us-west4-b"]}))
    assert plan_from(config, Path("/nowhere")).pools[0].zone == "us-west4-b"


def test_keys_of_other_projects_and_providers_are_not_ours() -> None:
    config = {**as_config(TUTORIAL), "gcp:project": "x", "pulumi:disable-default-providers": "[]"}
    assert plan_from(config, Path("/nowhere")).settings.project == "some-project"
