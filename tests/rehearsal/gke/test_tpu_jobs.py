"""The variables that GKE's webhook gives Jobs on slices of several hosts, by a real API server, which keeps none of these Jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.gke.conftest import World, until

pytestmark = pytest.mark.rehearsal

JOBS = "/apis/batch/v1/namespaces/default/jobs?dryRun=All"
Submit = Callable[..., dict[str, Any]]


def job(name: str, hosts: int, containers: list[dict[str, Any]] | None = None, **fields: Any) -> dict[str, Any]:
    """An indexed Job with a subdomain, one pod a host; `labels`, and fields of the pod's spec by name."""
    labels = fields.pop("labels", {})
    pod = {"subdomain": "net", "restartPolicy": "Never", "containers": containers or [container()], **fields}
    spec = {"completionMode": "Indexed", "parallelism": hosts, "completions": hosts, "template": {"spec": pod}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": labels}, "spec": spec}


def container(name: str = "main", chips: int = 4, **fields: Any) -> dict[str, Any]:
    limits = {"google.com/tpu": str(chips)} if chips else {"cpu": "1"}
    return {"name": name, "image": "played", "resources": {"limits": limits}, **fields}


def of_jobset(index: int, replicas: int, others: int = 0) -> dict[str, str]:
    """JobSet's own labels of job `index` of the replicated job `slice`, in a JobSet that has `others` too."""
    values = {
        "jobset-name": "train",
        "replicatedjob-name": "slice",
        "replicatedjob-replicas": str(replicas),
        "global-replicas": str(replicas + others),
        "job-index": str(index),
    }
    return {f"jobset.sigs.k8s.io/{name}": value for name, value in values.items()}


@pytest.fixture
def submit(demo: World) -> Submit:
    """Submits a Job that is not kept; the variables of its containers, by container and name: values, or where they come from."""

    def run(body: dict[str, Any]) -> dict[str, Any]:
        made = demo.kube.call("POST", JOBS, body)
        containers = made["spec"]["template"]["spec"]["containers"]
        return {
            c["name"]: {e["name"]: e.get("value", e.get("valueFrom")) for e in c.get("env", [])} for c in containers
        }

    until("the rule is in force", lambda: run(job("first", 2))["main"])
    return run


def test_v6e_4x4_has_the_names_of_its_four_hosts_in_order(submit: Submit) -> None:
    assert submit(job("one", 4))["main"] == {
        "TPU_WORKER_ID": {
            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}
        },
        "TPU_WORKER_HOSTNAMES": "one-0.net,one-1.net,one-2.net,one-3.net",
    }


def test_each_slice_of_v5e_2x4_knows_which_of_all_it_is(submit: Submit) -> None:
    for index in range(3):
        found = submit(job(f"train-slice-{index}", 2, subdomain="train", labels=of_jobset(index, 3)))["main"]
        assert found["TPU_WORKER_HOSTNAMES"] == f"train-slice-{index}-0.train,train-slice-{index}-1.train"
        assert {name: value for name, value in found.items() if name.startswith("MEGASCALE")} == {
            "MEGASCALE_NUM_SLICES": "3",
            "MEGASCALE_SLICE_ID": str(index),
            "MEGASCALE_COORDINATOR_ADDRESS": "train-slice-0-0.train",
        }


def test_nothing_is_said_of_slices_to_a_jobset_of_one_or_of_several_templates(submit: Submit) -> None:
    for labels in (of_jobset(0, 1), of_jobset(0, 2, others=1)):
        assert set(submit(job("one", 2, labels=labels))["main"]) == {"TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES"}


def test_a_single_host_no_subdomain_no_index_or_several_processes_and_the_job_is_left_as_it_is(submit: Submit) -> None:
    plain = job("one", 2)
    plain["spec"]["completionMode"] = "NonIndexed"
    several = job("one", 2, [container(chips=2), container("other", chips=2)])
    chipless = job("one", 2, [container(chips=0)])
    for body in (job("one", 1), job("one", 2, subdomain=None), plain, several, chipless):
        assert submit(body)["main"] == {}


def test_what_the_manifest_states_stays_and_only_the_container_with_chips_gets_more(submit: Submit) -> None:
    own = [{"name": "MEGASCALE_NUM_SLICES", "value": "1"}, {"name": "MINE", "value": "mine"}]
    found = submit(job("one", 2, [container("beside", chips=0), container(env=own)], labels=of_jobset(1, 2)))
    assert found["beside"] == {}
    assert (found["main"]["MEGASCALE_NUM_SLICES"], found["main"]["MINE"]) == ("1", "mine")
    assert found["main"]["MEGASCALE_SLICE_ID"] == "1"
