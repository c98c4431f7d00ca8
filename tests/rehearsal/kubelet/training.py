"""Two pods of an Indexed Job that train together, as one replicated Job of a JobSet has them: they find each other by the
cluster's DNS, have four devices each, and count eight together."""

from __future__ import annotations

import signal
from typing import Any

from rehearsal.kubernetes.client import Client
from tests.rehearsal.kubelet import scenario

REQUIREMENT = "jax[tpu]==0.10.2"
TRAINED_S = 180.0
"""Two processes import JAX, twice each with pip before: some 15 s on two quiet cores."""

PROGRAM = """
import os, socket, time
assert any(line.split()[4:5] == ["/dev/shm"] and " tmpfs " in line for line in open("/proc/self/mountinfo"))
import jax
def found(name, until=time.monotonic() + 60):
    try: return socket.gethostbyname(name)
    except socket.gaierror:
        if time.monotonic() > until: raise
    time.sleep(0.2)
    return found(name)
others = {name: found(f"train-{name}.train") for name in "01"}
me = socket.gethostbyname(socket.gethostname())
assert others[os.environ["JOB_COMPLETION_INDEX"]] == me, (others, me)
for outside in ("nobody.train", "storage.googleapis.com"):
    try: print("resolved", outside, socket.gethostbyname(outside))
    except socket.gaierror: pass
jax.distributed.initialize("train-0.train:8476", 2, int(os.environ["JOB_COMPLETION_INDEX"]))
total = jax.jit(lambda: jax.numpy.ones(8).sum(), out_shardings=jax.sharding.NamedSharding(
    jax.make_mesh((8,), ("x",)), jax.sharding.PartitionSpec()))()
print(socket.getfqdn(), jax.local_device_count(), jax.device_count(), jax.default_backend(), float(total), flush=True)
"""
JOBS = "/apis/batch/v1/namespaces/t/jobs"
SERVICES = "/api/v1/namespaces/t/services"


def job(requirement: str) -> dict[str, Any]:
    container = {
        "name": "c",
        "image": "python:3.12.12-slim-bookworm",
        "command": ["bash", "-c", f'set -eu; pip install --quiet "{requirement}"; exec python -c "$PROGRAM"'],
        "env": [{"name": "PROGRAM", "value": PROGRAM}, {"name": "JAX_PLATFORMS", "value": "tpu,cpu"}],
        "resources": {"limits": {"google.com/tpu": "4"}},
        "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
    }
    pod = {
        "nodeName": "n1",
        "subdomain": "train",
        "restartPolicy": "Never",
        "containers": [container],
        "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory"}}],
    }
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "backoffLimit": 0}
    template = {"metadata": {"labels": {"app": "train"}}, "spec": pod}
    return {"metadata": {"name": "train"}, "spec": {**spec, "template": template}}


def submit(client: Client, requirement: str) -> None:
    service = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"app": "train"}}
    client.request("POST", SERVICES, {"metadata": {"name": "train"}, "spec": service})
    client.request("POST", JOBS, job(requirement))


def finished(client: Client) -> bool:
    """Whether the job has ended, well or not."""
    status = client.request("GET", f"{JOBS}/train").get("status") or {}
    return any(c["type"] in ("Complete", "Failed") and c["status"] == "True" for c in status.get("conditions") or [])


def pods_by_index(client: Client) -> dict[str, str]:
    """The names of the job's pods, by completion index."""
    found = client.request("GET", "/api/v1/namespaces/t/pods", query={"labelSelector": "app=train"})["items"]
    index = "batch.kubernetes.io/job-completion-index"
    return {pod["metadata"]["labels"][index]: pod["metadata"]["name"] for pod in found}


def play(cluster: Any) -> dict[str, Any]:
    from tests.rehearsal.kubelet.cluster import until

    scenario.ground(cluster)
    cluster.start_controllers()
    cluster.start_agent()
    submit(cluster.client, REQUIREMENT)
    until(lambda: finished(cluster.client), "the job's end", TRAINED_S)
    names = pods_by_index(cluster.client)
    seen = {index: cluster.log(name) for index, name in sorted(names.items())}
    status = cluster.client.request("GET", f"{JOBS}/train")["status"]
    for name in names.values():
        cluster.client.request("DELETE", f"{scenario.PODS}/{name}")
    until(lambda: cluster.interfaces() == 0, "no network left")
    cluster.end_agent(signal.SIGTERM)
    return {"logs": seen, "succeeded": status.get("succeeded", 0)}
