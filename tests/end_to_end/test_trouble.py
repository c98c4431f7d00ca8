"""What others do to a platform: an interrupt, a provider that dies, things that somebody deletes by hand. `make up` goes on from
it, and `make down` takes it down. The order is the order in this file: one platform goes through all of it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from operations.stack.engine import OperationError
from operations.stack.up import ABSENT_TIMEOUT_S, follow
from rehearsal import lifecycle
from rehearsal.errors import RehearsalError
from rehearsal.host import sandbox
from settings.catalogue.versions import JOBSET_API, KUEUE_API
from settings.plan.jobs import JobSetPlan
from tests.end_to_end.conftest import Checkout, until
from workloads.jobset.manifest import multislice_jobset

pytestmark = pytest.mark.rehearsal

REACHED_S = 120.0
ENDS_S = 60.0
GONE_S = 30.0
CLUSTER = "projects/rehearsal-project/locations/us-central1/clusters/tpu-cluster"
ACCOUNT = "tpu-cluster-nodes@rehearsal-project.iam.gserviceaccount.com"
DEPLOYMENTS = {
    "jobset-controller": "jobset-system",
    "kueue-controller-manager": "kueue-system",
    "kuberay-operator": "ray-system",
}
QUEUES, JOBSETS = f"/apis/{KUEUE_API}/clusterqueues", f"/apis/{JOBSET_API}/namespaces/default/jobsets"


def small(config: dict[str, Any]) -> None:
    """Tutorial A with two slices and one job, and the Ray operator by Helm, so that there are three releases."""
    config["tpu-platform:slices"] = [{**config["tpu-platform:slices"][0], "pools": ["nodepool1", "nodepool2"]}]
    config["tpu-platform:queues"] = config["tpu-platform:queues"][:1]
    config["tpu-platform:workloads"] = [{"name": "job", "slices": 1}]
    config["tpu-platform:ray"] = {"operator": "helm", "jobs": []}


@pytest.fixture(scope="module")
def troubled(checkout: Checkout) -> Iterator[Checkout]:
    patch = pytest.MonkeyPatch()
    patch.setenv("REHEARSAL_JOB_DURATION", "1s")
    checkout.make("clean")  # what these tests count in Google's audit log is theirs alone
    undo = checkout.config(small)
    yield checkout
    undo()
    patch.undo()


def google(checkout: Checkout, method: str, path: str, body: Any = None) -> Any:
    return lifecycle.google(checkout.layout, method, path, body)


def await_making(checkout: Checkout, running: subprocess.Popen[str], kind: str, *names: str) -> None:
    """Returns when Google is at work on all of these clusters or pools; fails when what asks for them ends before."""

    def reached() -> bool:
        assert running.poll() is None, (checkout.folder / "background.log").read_text()[-3000:]
        try:
            there = checkout.google("/_rehearsal/state")[kind]
        except RehearsalError:
            return False  # the server is not up yet
        states = {name.rsplit("/", 1)[-1]: thing["status"] for name, thing in there.items()}
        return all(states.get(name) == "PROVISIONING" for name in names)

    until(f"{', '.join(names)} in the making", REACHED_S, reached)


def asked_for(checkout: Checkout, method: str) -> list[str]:
    """The names of what was created by calls that Google accepted."""
    calls = checkout.google(f"/_rehearsal/audit?method={method}")
    kind = "nodePool" if method.startswith("container.projects.locations.clusters.nodePools") else "cluster"
    return sorted(call["body"][kind]["name"] for call in calls if call["status"] == 200)


def slow(checkout: Checkout, *names: str) -> None:
    """Google takes its time for the next operation on each of these: enough to come between."""
    faults = [{"fault": "slow", "factor": 4, "match": {"name": name}, "times": 1} for name in names]
    google(checkout, "PUT", "/_rehearsal/faults", faults)


# -- in the middle of a creation --------------------------------------------------------------------------------------


def test_an_interrupt_in_the_making_of_the_cluster_ends_soon(troubled: Checkout) -> None:
    troubled.make("rehearsal")
    slow(troubled, "tpu-cluster")
    command = ["env", "--default-signal=INT", "make", "up"]
    with (troubled.folder / "background.log").open("w") as log:
        running = subprocess.Popen(
            command,
            cwd=troubled.folder,
            env=troubled.environment(),
            stdout=log,
            stderr=log,
            start_new_session=True,
            text=True,
        )
    await_making(troubled, running, "clusters", "tpu-cluster")
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does for Ctrl-C
    assert running.wait(timeout=ENDS_S) != 0
    assert sandbox.processes_named(troubled.layout, "pulumi") == []


def test_a_provider_that_dies_in_the_making_of_pools_ends_the_run(troubled: Checkout) -> None:
    slow(troubled, "nodepool1", "nodepool2")
    running = troubled.start("up")
    await_making(troubled, running, "pools", "nodepool1", "nodepool2")
    for pid in provider(troubled):
        os.kill(pid, signal.SIGKILL)
    assert running.wait(timeout=REACHED_S) != 0


def provider(checkout: Checkout) -> list[int]:
    """The provider's process, as this machine numbers it."""
    named = b"rehearsal.gcp_provider"
    inside = sandbox.processes_named(checkout.layout, "python") + sandbox.processes_named(checkout.layout, "python3")
    found = [pid for pid in inside if named in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    assert found
    return found


def test_up_goes_on_from_both(troubled: Checkout) -> None:
    troubled.make("up")
    assert troubled.changes() == {}
    assert asked_for(troubled, "container.projects.locations.clusters.create") == ["tpu-cluster"]
    pools = asked_for(troubled, "container.projects.locations.clusters.nodePools.create")
    # Google's own default pool comes with the cluster: it is taken away, though its creation was interrupted, and ours is made.
    assert pools == ["default-pool", "nodepool1", "nodepool2"]
    removed = troubled.google("/_rehearsal/audit?method=nodePools.delete")
    assert [call["path"].rsplit("/", 1)[-1] for call in removed if call["status"] == 200] == ["default-pool"]


# -- what somebody deletes --------------------------------------------------------------------------------------------


def test_a_job_that_is_deleted_while_it_is_followed_is_said_to_be_gone(troubled: Checkout) -> None:
    delete(troubled, f"{JOBSETS}/job")
    began = time.monotonic()
    with pytest.raises(OperationError, match=r'jobsets\.jobset\.x-k8s\.io "job" is not there'):
        follow(troubled.layout, troubled.plan)
    assert time.monotonic() - began < 2 * ABSENT_TIMEOUT_S


def test_up_makes_again_what_somebody_has_deleted(troubled: Checkout) -> None:
    """The job is gone from the test before."""
    queue = f"{QUEUES}/multislice-cluster-queue"
    delete(troubled, queue)
    for name, namespace in DEPLOYMENTS.items():
        delete(troubled, f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
    google(troubled, "DELETE", f"/v1/{CLUSTER}/nodePools/nodepool2")
    google(troubled, "DELETE", f"/v1/projects/rehearsal-project/serviceAccounts/{ACCOUNT}")
    until("the pool is gone", GONE_S, lambda: f"{CLUSTER}/nodePools/nodepool2" not in pools(troubled))
    troubled.make("up")
    assert troubled.changes() == {}
    assert pools(troubled)[f"{CLUSTER}/nodePools/nodepool2"]["status"] == "RUNNING"
    assert ACCOUNT in troubled.google("/_rehearsal/state")["service-accounts"]
    active = [c for c in troubled.cluster().call("GET", queue)["status"]["conditions"] if c["type"] == "Active"]
    assert [c["status"] for c in active] == ["True"]
    assert ready(troubled) == dict.fromkeys(DEPLOYMENTS, 1)
    assert troubled.lines()["job"].succeeded


def delete(checkout: Checkout, path: str) -> None:
    checkout.cluster().call("DELETE", path)
    until(f"{path} is gone", GONE_S, lambda: not checkout.cluster().found(path))


def pools(checkout: Checkout) -> dict[str, Any]:
    return dict(checkout.google("/_rehearsal/state")["pools"])


def ready(checkout: Checkout) -> dict[str, int]:
    """Available pods of each controller that is there."""
    paths = {name: f"/apis/apps/v1/namespaces/{space}/deployments/{name}" for name, space in DEPLOYMENTS.items()}
    found = {name: checkout.cluster().get(path) for name, path in paths.items()}
    return {name: there["status"].get("availableReplicas", 0) for name, there in found.items() if there is not None}


def test_a_controller_that_is_made_again_is_still_helms(troubled: Checkout) -> None:
    made = troubled.cluster().call("GET", "/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager")
    assert made["metadata"]["annotations"]["meta.helm.sh/release-name"] == "kueue"
    assert made["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "Helm"


# -- down -------------------------------------------------------------------------------------------------------------


def test_down_brings_controllers_back_before_it_deletes_anything(troubled: Checkout) -> None:
    """Without them no job can be deleted. It then stops for a job that is not the stack's, so that there is something to see."""
    foreign = replace(troubled.plan.of(JobSetPlan)[0], name="foreign", slices=3)
    troubled.cluster().call("POST", JOBSETS, multislice_jobset(foreign))
    until("it waits in the queue", ENDS_S, lambda: "foreign" in waiting(troubled))
    for name, namespace in DEPLOYMENTS.items():
        delete(troubled, f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
    refused = troubled.make("down", check=False)
    assert refused.returncode != 0 and "JobSet default/foreign" in refused.stderr
    assert ready(troubled) == dict.fromkeys(DEPLOYMENTS, 1)
    assert troubled.cluster().found(f"{JOBSETS}/job")
    delete(troubled, f"{JOBSETS}/job")
    delete(troubled, f"{JOBSETS}/foreign")


def waiting(checkout: Checkout) -> set[str]:
    """The jobs whose Workloads Kueue holds."""
    listed = checkout.cluster().list(f"/apis/{KUEUE_API}/namespaces/default/workloads")
    held = [workload["metadata"] for workload in listed if workload["metadata"].get("finalizers")]
    return {owner["name"] for metadata in held for owner in metadata["ownerReferences"]}


def test_down_takes_the_rest_when_somebody_has_deleted_the_cluster(troubled: Checkout) -> None:
    google(troubled, "DELETE", f"/v1/{CLUSTER}")
    until("the cluster is gone", GONE_S, lambda: not troubled.google("/_rehearsal/state")["clusters"])
    troubled.make("down")
    assert sandbox.first_process(troubled.layout) is None
    assert not list(troubled.layout.clusters.iterdir())
