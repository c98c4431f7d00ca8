"""What a pod with chips asks for of its host on Autopilot: it fits the node, and the quota of its queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from settings.catalogue.accelerators import MACHINE_TYPES, MachineType
from settings.load import plan_from
from settings.plan.host_requests import DISK, host_share
from settings.plan.plan import Plan
from settings.plan.system_nodes import Room, node_room
from settings.schema.field_types import mebibytes
from tests.support.autopilot import autopilot, slices
from tests.support.platforms import as_config, plan_with
from workloads.jobset.manifest import multislice_jobset

pytestmark = pytest.mark.unit

SIDECAR = Room(250, 256)
"""What the container that mounts a bucket asks for (GKE's default)."""


def plan_on_autopilot(**changes: Any) -> Plan:
    return plan_from(as_config(autopilot(**changes)), Path.cwd())


def requests(plan: Plan) -> dict[str, str]:
    (job, *_) = plan.jobs
    pod = multislice_jobset(job)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    found: dict[str, str] = pod["containers"][0]["resources"].get("requests", {})
    return found


def room(stated: dict[str, str]) -> Room:
    return Room(int(stated["cpu"]) * 1000, mebibytes(stated["memory"]))


def test_a_pod_states_most_of_its_host_on_autopilot_and_nothing_in_a_standard_cluster() -> None:
    assert requests(plan_on_autopilot()) == {"cpu": "84", "memory": "144Gi", DISK: "8Gi"}
    assert requests(plan_with()) == {}


@pytest.mark.parametrize("machine", MACHINE_TYPES.values(), ids=MACHINE_TYPES)
def test_it_fits_a_node_beside_what_gke_keeps_and_what_mounts_a_bucket(machine: MachineType) -> None:
    share = host_share([machine], plan_on_autopilot().settings)
    assert share is not None
    there = node_room(Room(machine.vcpus * 1000, machine.memory_gb * 1024))
    assert there.fits(Room(share.room.millicores + SIDECAR.millicores, share.room.mib + SIDECAR.mib))
    assert share.room.mib >= machine.memory_gb * 1024 // 3, "and it is no small part"


def test_a_size_that_google_s_lists_do_not_agree_on_is_not_counted_on() -> None:
    share = host_share([MACHINE_TYPES["ct6e-standard-8t"]], plan_on_autopilot().settings)
    assert share is not None
    assert share.room.millicores < 180_000, "of the 180 or 360 cores that it has"


def test_a_pod_that_may_be_on_several_machines_asks_for_what_the_smallest_has() -> None:
    newer = slices(flavor="newer", machineType="ct6e-standard-4t", topology="2x4", zone="us-west4-b")
    job = {"name": "either", "slices": 1, "flavors": ["vlp-24", "newer"]}
    sections = [*slices(), *newer]
    plan = plan_on_autopilot(slices=sections, workloads=[job], tpuZones={"ct6e": ["us-west4-b"]})
    assert requests(plan) == {"cpu": "84", "memory": "144Gi", DISK: "8Gi"}


@pytest.mark.parametrize("shape", [{}, {"machineType": "ct5lp-hightpu-1t", "topology": "1x1"}, {"quota": 8}])
def test_all_slices_that_a_queue_has_chips_for_it_has_cores_and_memory_for(shape: dict[str, Any]) -> None:
    plan = plan_on_autopilot(slices=slices(**shape), workloads=[{"name": "train", "slices": 1}])
    (flavor,) = plan.queues[0].flavors
    quota = dict(flavor.quota)
    (job,) = plan.jobs
    asked, hosts = room(requests(plan)), flavor.chips // job.shape.machine.chips
    assert Room(int(quota["cpu"]) * 1000, mebibytes(quota["memory"])).fits(
        Room(asked.millicores * hosts, asked.mib * hosts)
    )
