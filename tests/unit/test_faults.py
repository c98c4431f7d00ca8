"""Bad configurations: each fault by its key, with the rule and the way out."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import TUTORIAL, changed
from faulty import GIVEN, JOB, SLICES, cluster, each, is_the_only_fault, jobs, slices

pytestmark = pytest.mark.unit


def pool(**changes: Any) -> dict[str, Any]:
    return cluster(defaultPool=changes)


def complete(changes: dict[str, Any]) -> dict[str, Any]:
    """A whole file with these top-level keys changed."""
    return changed(**changes)


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("no such topology", {"slices": slices(topology="3x4")}, "slices[0].topology", "2x4", "write 2x4"),
    ("topology in capitals", {"slices": slices(topology="2X4")}, "slices[0].topology", "2x4", "write 2x4"),
    (
        "topology of another machine type",
        {"slices": slices(machineType="ct5lp-hightpu-8t", topology="4x4"), "workloads": []},
        "slices[0].topology",
        "ct5lp-hightpu-8t makes: 2x4",
        "ct5lp-hightpu-4t",
    ),
    ("zone without the TPU", {"slices": slices(zone="us-west4-b")}, "slices[0].zone", "us-west4-a", "write us-west4-a; if Google"),
    ("zone of another region", {"slices": slices(zone="us-west1-c")}, "slices[0].zone", "region us-west4", "write us-west4-a, or location: us-west1"),
    ("zone of another region without the TPU", {"slices": slices(zone="europe-west1-b")}, "slices[0].zone", "region us-west4, and a zone that has ct5lp", "write us-west4-a"),
    ("no place has the TPU and the cluster", {"location": "us-west2", "slices": slices(zone="us-west2-a")}, "slices[0].zone", "has ct5lp", "write us-west4-a, and location: us-west4"),
    ("TPU that no zone is known for", {"slices": slices(machineType="ct3-hightpu-4t", topology="2x2"), "workloads": []}, "slices[0].zone", "tpuZones.ct3", "tpuZones.ct3"),
    ("no such machine type", {"slices": slices(machineType="ct5lp-hightpu-3t")}, "slices[0].machineType", "catalogue", "write ct5lp-hightpu-4t (2x4 on 2 hosts)"),
    ("machine type of a GPU", {"slices": slices(machineType="a3-highgpu-8g")}, "slices[0].machineType", "catalogue", "write one of ct3"),
    ("quota below a slice", {"slices": slices(quota=4)}, "slices[0].quota", "at least one slice, 8 chips", "write 8"),
    ("quota zero is a value", {"slices": slices(quota=0)}, "slices[0].quota", "at least one slice", "write 8"),
    ("quota below zero", {"slices": slices(quota=-8)}, "slices[0].quota", "at least one slice", "write 8"),
    ("quota above the pools", {"slices": slices(quota=32)}, "slices[0].quota", "24 chips", "write 24"),
    ("quota of a part of a slice", {"slices": slices(quota=12)}, "slices[0].quota", "multiples of 8", "write 8 or 16"),
    ("more slices than pools", {"workloads": jobs(slices=4)}, "workloads[0].slices", "at most 3", "list 1 more"),
    ("more slices than quota", {"slices": slices(quota=16), "workloads": jobs(slices=3)}, "workloads[0].slices", "at most 2", "raise slices[0].quota"),
    ("several slices of one host", {"slices": slices(machineType="ct5lp-hightpu-8t"), "workloads": [{**JOB, "slices": 2}]}, "workloads[0].slices", "1: a slice of vlp-24 is one host, and GKE joins only slices of several hosts", "write 1"),
    ("no slices", {"workloads": jobs(slices=0)}, "workloads[0].slices", "from 1 to 256", "write 1 or more"),
    ("too many slices", {"workloads": jobs(slices=257)}, "workloads[0].slices", "from 1 to 256", "write 256 or less"),
    ("time below zero", {"workloads": jobs(sleepSeconds=-1)}, "workloads[0].sleepSeconds", "from 0 to 86400", "write 0 or more"),
    ("empty name", {"cluster": cluster(name="")}, "cluster.name", "1 to 40 characters", "write a value, like tpu-cluster"),
    ("long cluster name", {"cluster": cluster(name="a" * 70)}, "cluster.name", "1 to 40 characters", "shorten it by 30: it has 70 characters"),
    ("capitals", {"cluster": cluster(name="My Cluster")}, "cluster.name", "a-z", "write my-cluster"),
    ("long job name", {"workloads": jobs(name="a" * 70)}, "workloads[0].name", "characters of a-z", "70 characters"),
    ("job name whose pods are too long", {"workloads": jobs(name="a" * 60)}, "workloads[0].name", "at most 47 characters", "shorten it by 13"),
    ("job name with capitals", {"workloads": jobs(name="Train")}, "workloads[0].name", "a-z", "write train"),
    ("job name that starts with a digit", {"workloads": jobs(name="1slice")}, "workloads[0].name", "first a letter", "like train-1"),
    ("empty job name", {"workloads": [{**JOB, "name": ""}, *TUTORIAL["workloads"][1:]]}, "workloads[0].name", "1 to 63", "write a value, like train-1"),
    ("number for a topology", {"slices": slices(topology=24)}, "slices[0].topology", "text", "write text like 2x4"),
    ("number for a label", {"labels": {"cost": 24}}, "labels.cost", "text", "in quotes, as YAML reads it as a number: '24'"),
    ("number for a name", {"cluster": cluster(name=24)}, "cluster.name", "text", "write text like tpu-cluster"),
    ("boolean for text", {"labels": {"on-call": True}}, "labels.on-call", "text", "put it in quotes"),
    ("version as a number", {"cluster": cluster(version=1.30)}, "cluster.version", "text", "'1.3' (or '1.30' if that is what you wrote"),
    ("version with two decimals", {"cluster": cluster(version=1.34)}, "cluster.version", "text", "as a number: '1.34'"),
    ("text for a number", {"workloads": jobs(slices="3")}, "workloads[0].slices", "a whole number from 1 to 256", "write 3, without quotes"),
    ("part for a number", {"workloads": jobs(slices=2.0)}, "workloads[0].slices", "a whole number from 1 to 256", "write 2"),
    ("list for a number", {"slices": slices(quota=[8])}, "slices[0].quota", "a whole number", "write a number like"),
    ("text for a boolean", {"deletionProtection": "maybe"}, "deletionProtection", "type in Pulumi.yaml", "YAML"),
    ("quotes around a boolean", {"workloads": jobs(privileged="yes")}, "workloads[0].privileged", "true or false", "write true, without quotes"),
    ("number for a boolean", {"workloads": jobs(privileged=1)}, "workloads[0].privileged", "true or false", "write true or false"),
    ("text for a list", {"slices": slices(pools="nodepool1")}, "slices[0].pools", "a list", "write [nodepool1]"),
    ("map for a list", {"slices": SLICES}, "slices", "a list of maps", "put `- ` before each entry"),
    ("list for a map", {"cluster": [1]}, "cluster", "a map of keys to values", "write its keys below it, of name, existing, version"),
    ("number for labels", {"labels": 3}, "labels", "a map of keys to values", "write keys with their values"),
    ("nothing where there is no default", {"slices": slices(pools=None)}, "slices[0].pools", "a list", "this key has no default"),
    ("nothing where there is a default", {"cluster": cluster(version=None)}, "cluster.version", "text", "remove the key: it has a default"),
    ("nothing in a list", {"slices": [SLICES, None]}, "slices[1]", "a map of keys to values", "remove the entry"),
    ("unknown key", {"slices": slices(topolgy="2x4")}, "slices[0].topolgy", "a known key", "remove the key: `topology` is there already"),
    ("key in another spelling", {"cluster": cluster(release_channel="RAPID")}, "cluster.release_channel", "a known key", "write releaseChannel"),
    ("key that means nothing", {"cluster": cluster(zzz=1)}, "cluster.zzz", "a known key", "remove the key"),
    ("unknown top-level key", {"slcies": []}, "slcies", "a known key", "remove the key: `slices` is there already"),
    ("misspelt top-level key", {"slcies": [SLICES], "slices": None}, "slcies", "a known key", "write slices"),
    ("misspelt key", {"slices": [{**{k: v for k, v in SLICES.items() if k != "topology"}, "topolgy": "2x4"}]}, "slices[0].topolgy", "a known key", "write topology"),
    ("missing key", {"cluster": {}}, "cluster.name", "must be set", "add `name`, like tpu-cluster"),
    ("missing section", {"slices": None}, "slices", "must be set", "add `tpu-platform:slices` below `config:`"),
    ("missing project", {"project": None}, "project", "must be set", "like my-project-id"),
    ("no entry", {"slices": []}, "slices", "at least one entry", "write at least one"),
    ("no pool", {"slices": slices(pools=[])}, "slices[0].pools", "at least one", "write at least one"),
    ("no queue", {"queues": []}, "queues", "at least one", "or remove the key"),
    ("pool twice", {"slices": slices(pools=["a", "a", "b", "c"])}, "slices[0].pools[1]", "also slices[0].pools[0]", "another name"),
    ("pool of system pods", {"slices": slices(pools=["default-pool", "b", "c"])}, "slices[0].pools[0]", "system pods", "another name"),
    ("slices twice", {"slices": [SLICES, SLICES]}, "slices[1]", "slices[0] is the same", "remove it"),
    ("alike slices", {"slices": [SLICES, {**SLICES, "flavor": "b", "pools": ["p"]}], "workloads": jobs(flavor="b", slices=1)}, "slices[1].topology", "alike, they are one flavor", "slices[0].pools"),
    ("job twice", {"workloads": [JOB, JOB]}, "workloads[1]", "workloads[0] is the same", "remove it"),
    ("job name twice", {"workloads": [JOB, {**JOB, "slices": 1, "after": ["b"]}, {"name": "b", "slices": 1}]}, "workloads[1].name", "listed once", "rename or remove"),
    ("waits for nobody", {"workloads": [JOB, {"name": "b", "slices": 1, "after": ["multislice-3slic"]}]}, "workloads[1].after[0]", "a job in workloads", "write multislice-3slice, or remove it"),
    ("waits for itself", {"workloads": jobs(after=["multislice-3slice"])}, "workloads[0].after[0]", "another job", "remove"),
    ("waits twice", {"workloads": [JOB, {"name": "b", "slices": 1, "after": [JOB["name"], JOB["name"]]}]}, "workloads[1].after[1]", "listed once", "remove it"),
    (
        "waits in a circle",
        {"workloads": [{"name": "c", "slices": 1, "after": ["a"]}, {"name": "a", "slices": 1, "after": ["b"]}, {"name": "b", "slices": 1, "after": ["a"]}]},
        "workloads[1].after",
        "a -> b -> a",
        "remove one",
    ),
    ("job that others wait for, renamed", {"workloads": [{**JOB, "name": "other"}, *TUTORIAL["workloads"][1:]]}, "workloads[1].after[0]", "workloads[2].after[0] too", "write"),
    ("unknown flavor", {"workloads": jobs(flavor="vlp-25")}, "workloads[0].flavor", "vlp-24", "write vlp-24"),
    ("old version", {"cluster": cluster(version="1.26")}, "cluster.version", "at least 1.27.4-gke.900", "or later"),
    ("not a version", {"cluster": cluster(version="latest")}, "cluster.version", "a GKE version", "'1.34'"),
    ("version of nobody's", {"cluster": cluster(version="9.99")}, "cluster.version", "a GKE version", "'1.34'"),
    ("version with a new line", {"cluster": cluster(version="1.34\n")}, "cluster.version", "a GKE version", "'1.34'"),
    ("not a channel", {"cluster": cluster(releaseChannel="rapid")}, "cluster.releaseChannel", "one of RAPID, REGULAR", "write RAPID"),
    ("project with capitals", {"project": "My-Project"}, "project", "project id", "write my-project"),
    ("project that YAML calls nothing", {"project": "null"}, "project", "project id", "write something like my-project-id"),
    ("not a location", {"location": "west"}, "location", "region", "like us-west4"),
    ("not a range", {"network": {"podsCidr": "10.0.0.0/8x"}}, "network.podsCidr", "IPv4 range", "10.0.0.0/16"),
    ("range with bits behind the prefix", {"network": {"podsCidr": "10.64.0.5/16"}}, "network.podsCidr", "no bits set", "write 10.64.0.0/16"),
    ("range with a net mask", {"network": {"podsCidr": "10.64.0.0/255.255.0.0"}}, "network.podsCidr", "IPv4 range", "write"),
    ("one address without a prefix", {"cluster": cluster(authorizedNetworks=["203.0.113.7"])}, "cluster.authorizedNetworks[0]", "of one address: /32", "write"),
    ("ranges overlap", {"network": {"podsCidr": "10.128.0.0/14"}}, "network.podsCidr", "outside network.nodesCidr", "write 10.64.0.0/16, or move"),
    ("a range over all others", {"network": {"podsCidr": "10.0.0.0/8"}}, "network.podsCidr", "network.servicesCidr", "write 10.64.0.0/16"),
    ("too few pod addresses", {"network": {"podsCidr": "10.64.0.0/22"}}, "network.podsCidr", "room for 8 nodes", "write 10.64.0.0/21"),
    ("too few node addresses", {"network": {"nodesCidr": "10.128.0.0/29"}}, "network.nodesCidr", "room for 8 nodes and the 4", "write 10.128.0.0/28"),
    ("range of one address", {"network": {"nodesCidr": "10.128.0.0/31"}}, "network.nodesCidr", "room for 8 nodes", "write 10.128.0.0/28"),
    ("too few service addresses", {"network": {"servicesCidr": "10.32.0.0/30"}}, "network.servicesCidr", "/29 or larger", "write 10.32.0.0/29"),
    ("public range", {"network": {"nodesCidr": "8.8.0.0/16"}}, "network.nodesCidr", "a private range", "write 10.128.0.0/16"),
    ("public control plane", {"network": {"controlPlaneCidr": "8.8.0.0/28"}}, "network.controlPlaneCidr", "a private range", "write 172.16.0.0/28"),
    ("all addresses", {"network": {"servicesCidr": "0.0.0.0/0"}}, "network.servicesCidr", "a private range", "write 10.32.0.0/20"),
    ("control plane of another size", {"network": {"controlPlaneCidr": "172.16.0.0/24"}}, "network.controlPlaneCidr", "a /28", "write 172.16.0.0/28"),
    ("small control plane", {"network": {"controlPlaneCidr": "172.16.0.4/30"}}, "network.controlPlaneCidr", "a /28", "write 172.16.0.0/28"),
    ("own range in a given network", {"network": {"given": GIVEN, "podsCidr": "10.64.0.0/16"}}, "network.podsCidr", "network.given has its own", "remove"),
    ("firewall rule in another project's network", {"network": {"given": {**GIVEN, "network": "projects/host-project/global/networks/n"}}}, "network.given.firewall", "false: the network is in host-project", "add `firewall: false`"),
    ("subnetwork of another region", {"network": {"given": {**GIVEN, "subnetwork": "projects/some-project/regions/us-east5/subnetworks/s"}}}, "network.given.subnetwork", "in us-west4", "write one of us-west4"),
    ("one range for pods and services", {"network": {"given": {**GIVEN, "servicesRange": "pods"}}}, "network.given.servicesRange", "another secondary range", "the range for services"),
    ("version of somebody else's cluster", {"cluster": cluster(existing=True, version="1.34")}, "cluster.version", "as its owner made it", "or remove cluster.existing"),
    ("endpoint of somebody else's cluster", {"cluster": cluster(existing=True, privateEndpoint=False)}, "cluster.privateEndpoint", "as its owner made it", "remove the key"),
    ("ranges of somebody else's cluster", {"cluster": cluster(existing=True), "network": {"podsCidr": "10.64.0.0/16"}}, "network.podsCidr", "that of the existing cluster", "remove the key"),
    ("network of somebody else's cluster", {"cluster": cluster(existing=True), "network": {"given": GIVEN}}, "network.given", "that of the existing cluster", "remove the key"),
    ("quotes around existing", {"cluster": cluster(existing="true")}, "cluster.existing", "true or false", "write true, without quotes"),
    ("missing chart", {"charts": {"kueue": "no/such/folder"}}, "charts.kueue", "Chart.yaml", "correct the path"),
    ("chart by a scheme of nobody's", {"charts": {"jobset": "oci://"}}, "charts.jobset", "oci://", "correct the path"),
    ("unknown family of zones", {"tpuZones": {"ct5lpp": ["us-west4-a"]}}, "tpuZones.ct5lpp", "a family", "write ct5lp"),
    ("not a time", {"timeouts": {"pool": "0m"}}, "timeouts.pool", "a time like", "15m"),
    ("time in words", {"timeouts": {"pool": "90 minutes"}}, "timeouts.pool", "a time like", "write 90m"),
    ("time of two units", {"timeouts": {"pool": "1h30m"}}, "timeouts.pool", "a time like", "write 90m"),
    ("label with capitals", {"labels": {"Team": "a"}}, "labels.Team", "a-z", "write team"),
    ("too many labels", {"labels": {f"l{index}": "" for index in range(70)}}, "labels", "at most 64", "remove 6"),
    ("no nodes for system pods", {"cluster": pool(nodes=0)}, "cluster.defaultPool.nodes", "from 1 to 100", "write 1 or more"),
    ("not a machine type", {"cluster": pool(machineType="E2")}, "cluster.defaultPool.machineType", "machine type", "e2-standard-4"),
    ("machine type in capitals", {"cluster": pool(machineType="E2-Standard-4")}, "cluster.defaultPool.machineType", "machine type", "write e2-standard-4"),
    ("TPUs for system pods", {"cluster": pool(machineType="ct5lp-hightpu-4t")}, "cluster.defaultPool.machineType", "without TPUs", "e2-standard-4"),
    ("nodes too small for a manager", {"cluster": pool(machineType="e2-micro")}, "cluster.defaultPool.machineType", "managers", "write e2-standard-4"),
    ("machine of no size", {"cluster": pool(machineType="e2-standard-0")}, "cluster.defaultPool.machineType", "managers", "write e2-standard-4"),
    ("too few nodes for the managers", {"cluster": pool(machineType="e2-highcpu-2", nodes=1)}, "cluster.defaultPool.machineType", "room for 2 managers", "raise cluster.defaultPool.nodes"),
    ("system pods in another region", {"cluster": pool(zones=["us-west1-a"])}, "cluster.defaultPool.zones[0]", "region us-west4", "a zone of us-west4"),
    ("system pods in a zone twice", {"cluster": pool(zones=["us-west4-a", "us-west4-a"])}, "cluster.defaultPool.zones[1]", "listed once", "remove one"),
    *((f"namespace {name}", {"queues": [{"namespace": name}]}, "queues[0].namespace", "the system's", "write default") for name in
      ("kube-system", "kube-public", "gke-managed-system", "gmp-public", "kueue-system", "jobset-system", "ray-system")),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, wanted, remedy) -> None:
    is_the_only_fault(changed(**values), path, wanted, remedy)
