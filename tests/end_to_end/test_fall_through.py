"""Production's slices, teams and order of plans on the real controllers: with the reservation full, a team's jobs get the next
plan that they allow, spot machines of the same generation or another generation, and run on its pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml

from operations.kubernetes import Cluster
from settings.catalogue.labels import ACCELERATOR_LABEL, NODEPOOL_LABEL, TOPOLOGY_LABEL, TPU_RESOURCE
from settings.catalogue.versions import JOBSET_API, KUEUE_API
from settings.plan.jobs import JobSetPlan
from tests.end_to_end.conftest import HERE, Checkout, submit, until
from workloads.jobset.manifest import multislice_jobset

pytestmark = pytest.mark.rehearsal

ADMITTED_S = 120.0
RUNS_S = 240.0
"""A pool grows, its nodes register, and the pods are bound and run."""
TEAM = "research"
PODS = 4
"""Of a job of one slice: both shapes have four hosts."""


def as_production(config: dict[str, Any]) -> None:
    """What production's queues are made of, in the rehearsal's project, with jobs of a team to submit by hand."""
    production = yaml.safe_load((HERE / "Pulumi.prod.yaml").read_text())["config"]
    for key in ("location", "slices", "teams", "queues", "priorities"):
        config[f"tpu-platform:{key}"] = production[f"tpu-platform:{key}"]
    config["tpu-platform:cluster"]["securityGroup"] = production["tpu-platform:cluster"]["securityGroup"]
    config["tpu-platform:workloads"] = []
    del config["tpu-platform:ray"]


def with_jobs(config: dict[str, Any]) -> None:
    config["tpu-platform:workloads"] = [
        {"name": "whole", "slices": 3, "team": TEAM, "flavors": ["reserved"]},
        {"name": "kinds", "slices": 1, "team": TEAM, "flavors": ["reserved", "spare"]},
        {"name": "generations", "slices": 1, "team": TEAM, "flavors": ["reserved", "v5p"]},
        {"name": "anything", "slices": 1, "team": TEAM, "flavor": "reserved"},
    ]


class Team:
    """A team's namespace, and the jobs that its members may submit."""

    def __init__(self, cluster: Cluster, jobs: dict[str, JobSetPlan]) -> None:
        self.cluster, self.jobs = cluster, jobs
        self.jobsets = f"/apis/{JOBSET_API}/namespaces/{TEAM}/jobsets"

    def submit(self, name: str) -> None:
        submit(self.cluster, self.jobsets, manifest_of(self.jobs[name]))

    def flavor(self, name: str) -> str:
        """The flavor of a job's chips; nothing while it is not admitted."""
        for workload in self.cluster.list(f"/apis/{KUEUE_API}/namespaces/{TEAM}/workloads"):
            admitted = any(c["type"] == "Admitted" and c["status"] == "True" for c in _conditions(workload))
            if admitted and name in [owner["name"] for owner in workload["metadata"]["ownerReferences"]]:
                (part,) = workload["status"]["admission"]["podSetAssignments"]
                return str(part["flavors"][TPU_RESOURCE])
        return ""

    def pods(self, name: str) -> list[dict[str, Any]]:
        selector = f"jobset.sigs.k8s.io/jobset-name={name}"
        found = self.cluster.list(f"/api/v1/namespaces/{TEAM}/pods", labelSelector=selector)
        return [pod for pod in found if pod["status"]["phase"] == "Running"]

    def nodes(self, name: str) -> list[tuple[str, str, str]]:
        """(pool, accelerator, topology) of the node of each of a job's pods."""
        labels = {node["metadata"]["name"]: node["metadata"]["labels"] for node in self.cluster.list("/api/v1/nodes")}
        keys = (NODEPOOL_LABEL, ACCELERATOR_LABEL, TOPOLOGY_LABEL)
        nodes = [labels[pod["spec"]["nodeName"]] for pod in self.pods(name)]
        return [(node[keys[0]], node[keys[1]], node[keys[2]]) for node in nodes]

    def clear(self) -> None:
        for item in self.cluster.list(self.jobsets):
            self.cluster.call("DELETE", f"{self.jobsets}/{item['metadata']['name']}")


def manifest_of(job: JobSetPlan) -> dict[str, Any]:
    """As the program makes it; the one that takes anything, as a member writes it who leaves the shape open."""
    manifest = multislice_jobset(job)
    if job.name == "anything":
        del manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["nodeSelector"]
    return manifest


def _conditions(thing: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = thing.get("status", {}).get("conditions", [])
    return found


@pytest.fixture(scope="module")
def team(fresh: Callable[..., Checkout]) -> Iterator[Team]:
    """The platform without jobs, and the reservation full: a job of the team runs on all three slices, one of them borrowed."""
    checkout = fresh("fall-through")
    checkout.config(as_production)
    with pytest.MonkeyPatch.context() as patch:
        # What fills the reservation must not end before the others have been admitted, however slow the machine is.
        patch.setenv("REHEARSAL_JOB_DURATION", "1h")
        checkout.make("up")
        undo = checkout.config(with_jobs)
        plan = checkout.plan
        undo()
        found = Team(checkout.cluster(), {job.name: job for job in plan.of(JobSetPlan)})
        found.submit("whole")
        until("the reservation is full", ADMITTED_S, lambda: found.flavor("whole") == "reserved")
        yield found
        found.clear()


@pytest.mark.parametrize(
    ("name", "flavor", "accelerator", "topology"),
    [
        ("kinds", "spare", "tpu-v6e-slice", "4x4"),
        ("generations", "v5p", "tpu-v5p-slice", "2x2x4"),
        ("anything", "dws", "tpu-v6e-slice", "4x4"),
    ],
)
def test_a_job_gets_the_next_plan_that_it_allows(
    team: Team, name: str, flavor: str, accelerator: str, topology: str
) -> None:
    team.submit(name)
    until("it is admitted", ADMITTED_S, lambda: team.flavor(name) != "")
    assert team.flavor(name) == flavor
    until("all its pods run", RUNS_S, lambda: len(team.pods(name)) == PODS)
    (node,) = set(team.nodes(name))
    assert node[0].startswith(f"{flavor}-")
    assert node[1:] == (accelerator, topology)
    assert team.flavor("whole") == "reserved"
