"""Tutorial A on Autopilot: the committed stack file's values in the rehearsal, from nothing to nothing; and beside it what
that file has not: a Ray job, and a job on each kind of capacity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from operations.jobs.expectations import overlap, own_pools, waited_for
from rehearsal.host import sandbox
from settings.catalogue.labels import NODEPOOL_LABEL
from tests.end_to_end.conftest import HERE, Checkout, until

pytestmark = pytest.mark.rehearsal

SHRINKS_S = 60.0
RESERVATION = "some-reservation"
OURS = ("project", "charts", "timeouts")
"""What the rehearsal keeps of its own values."""


def as_autopilot(config: dict[str, Any]) -> None:
    """Autopilot's stack over the local one's surroundings."""
    wanted: dict[str, Any] = yaml.safe_load((HERE / "Pulumi.autopilot.yaml").read_text())["config"]
    kept = {key: value for key, value in config.items() if key.removeprefix("tpu-platform:") in OURS}
    config.clear()
    config.update({**wanted, **kept})
    a_queue, kinds = config["tpu-platform:queues"][0], ("spot", "flex-start", "reservation")
    shape = config["tpu-platform:slices"][0]
    one = {**shape, "count": 1}
    config["tpu-platform:slices"] = [
        shape,
        *({**one, "flavor": f"by-{kind}", "capacity": kind} for kind in kinds[:2]),
        {**one, "flavor": "by-reservation", "capacity": "reservation", "reservation": RESERVATION},
        {**one, "flavor": "ray", "topology": "4x4"},
    ]
    config["tpu-platform:queues"] = [
        {**a_queue, "flavors": ["vlp-24"]},
        {"clusterQueue": "kinds", "localQueue": "kinds", "flavors": [f"by-{kind}" for kind in kinds]},
        {"clusterQueue": "ray", "localQueue": "ray", "flavors": ["ray"], "cpu": {"cpu": 8, "memory": "32Gi"}},
    ]
    # Each is submitted when the one before it has the quota of its flavor, and so gets the next one.
    after: list[str] = []
    for kind in kinds:
        config["tpu-platform:workloads"].append(
            {"name": f"on-{kind}", "flavor": f"by-{kind}", "slices": 1, "after": after}
        )
        after = [f"on-{kind}"]
    for job in config["tpu-platform:workloads"][:3]:
        job["flavor"] = "vlp-24"
    config["tpu-platform:ray"] = {"operator": "addon", "jobs": [{"name": "ray-1"}]}


@pytest.fixture(scope="module")
def auto(fresh: Callable[..., Checkout]) -> Checkout:
    """A checkout of its own, so that the other rehearsals keep what they have."""
    made = fresh("autopilot")
    made.config(as_autopilot)
    return made


def tpu_nodes(auto: Checkout) -> list[Any]:
    return auto.cluster().list("/api/v1/nodes", labelSelector="cloud.google.com/gke-tpu-accelerator")


def found(auto: Checkout) -> dict[str, Any]:
    clusters: list[dict[str, Any]] = auto.google("/v1/projects/rehearsal-project/locations/-/clusters")["clusters"]
    return clusters[0]


def test_tutorial_a_keeps_its_promises(auto: Checkout) -> None:
    done = auto.make("up")
    assert "  FAILED " not in done.stdout
    lines = auto.lines()
    three, two, one = (lines[f"multislice-{n}slice"] for n in (3, 2, 1))
    assert all(line.succeeded for line in (three, two, one))
    assert [len(line.slices) for line in (three, two, one)] == [3, 2, 1]
    assert all(own_pools(line) for line in (three, two, one))
    assert all(pool.startswith("nap-") for line in (three, two, one) for pool in line.pools)
    assert waited_for(two, three, 2)
    assert waited_for(one, three, 1)
    assert overlap(two, one)
    assert three.nodes is not None and three.reserved is not None
    assert three.nodes >= three.reserved, "no slice was there before a job had its quota"


def test_a_job_gets_the_capacity_of_its_flavor_and_a_ray_job_runs(auto: Checkout) -> None:
    lines = auto.lines()
    for kind in ("spot", "flex-start", "reservation"):
        assert lines[f"on-{kind}"].succeeded
        assert lines[f"on-{kind}"].flavors == {f"by-{kind}"}
    assert lines["ray-1"].succeeded
    assert lines["ray-1"].flavors == {"ray"}
    assert lines["ray-1"].head is not None and lines["ray-1"].head not in lines["ray-1"].pools


def test_the_cluster_is_autopilots_and_the_platform_asked_for_no_pool(auto: Checkout) -> None:
    cluster = found(auto)
    assert cluster["autopilot"]["enabled"] is True
    account = cluster["autoscaling"]["autoprovisioningNodePoolDefaults"]["serviceAccount"]
    assert account == "multislice-cluster-nodes@rehearsal-project.iam.gserviceaccount.com"
    assert all(pool["name"].startswith("nap-") for pool in cluster["nodePools"])
    assert {pool["config"]["serviceAccount"] for pool in cluster["nodePools"]} == {account}
    assert {tuple(pool["config"]["tags"]) for pool in cluster["nodePools"]} == {("multislice-cluster-node",)}


def test_slices_go_when_their_jobs_have_ended_and_the_controllers_nodes_stay(auto: Checkout) -> None:
    until("the slices are gone", SHRINKS_S, lambda: not tpu_nodes(auto))
    nodes = auto.cluster().list("/api/v1/nodes")
    assert nodes
    until(
        "and their pools",
        SHRINKS_S,
        lambda: (
            {p["name"] for p in found(auto)["nodePools"]} == {n["metadata"]["labels"][NODEPOOL_LABEL] for n in nodes}
        ),
    )


def test_a_preview_afterwards_finds_nothing_to_do(auto: Checkout) -> None:
    assert auto.changes() == {}


def test_a_refresh_finds_nothing_either(auto: Checkout) -> None:
    auto.pulumi("preview", "--refresh", "--expect-no-changes")


def test_down_leaves_nothing(auto: Checkout) -> None:
    auto.make("down")
    assert sandbox.first_process(auto.layout) is None
    assert not list(auto.layout.clusters.iterdir())
