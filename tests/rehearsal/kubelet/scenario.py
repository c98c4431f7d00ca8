"""What the end-to-end test does to its cluster, step by step; each step notes what it saw."""

from __future__ import annotations

import signal
import time
from typing import Any

from rehearsal.kubernetes.client import ApiError

SERVE = """
import http.server, os, signal, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path
        if path == "/env": body = "\\n".join(f"{k}={v}" for k, v in os.environ.items())
        elif path == "/break": open("/data/broken", "w").close(); body = "broken"
        else:
            try: body = open(path).read()
            except OSError: body = None
        if path == "/live": body = None if os.path.exists("/data/broken") else "ok"
        if path == "/ready": body = "ok"
        self.send_response(503 if body is None else 200); self.end_headers()
        self.wfile.write((body or "").encode())
    def log_message(self, *words): pass
def term(*words):
    print("asked to end", flush=True); os._exit(0)
signal.signal(signal.SIGTERM, term)
if os.path.exists("/data/broken"): os.unlink("/data/broken")
print("serving", *sys.argv[1:], flush=True)
http.server.ThreadingHTTPServer(("0.0.0.0", 8080), Handler).serve_forever()
"""

PODS = "/api/v1/namespaces/t/pods"


def server(python: str) -> dict[str, Any]:
    volumes = [
        {"name": "data", "emptyDir": {}},
        {"name": "code", "configMap": {"name": "code"}},
        {"name": "late", "secret": {"secretName": "late"}},
    ]
    mounts = [
        {"name": "data", "mountPath": "/data"},
        {"name": "code", "mountPath": "/code/serve.py", "subPath": "serve.py"},
        {"name": "late", "mountPath": "/etc/late/deep"},
    ]
    container = {
        "name": "c",
        "image": "registry.example/shell:1",
        "command": [python, "/code/serve.py", "$(NAME)"],
        "env": [{"name": "NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "ports": [{"name": "web", "containerPort": 8080}],
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "web"}, "periodSeconds": 1},
        "livenessProbe": {"httpGet": {"path": "/live", "port": 8080}, "periodSeconds": 1, "failureThreshold": 1, "initialDelaySeconds": 1},
        "volumeMounts": mounts,
    }  # fmt: skip
    first = {"name": "i", "image": "shell:1", "args": ["-c", "echo made > /data/first"], "volumeMounts": mounts[:1]}
    spec = {"nodeName": "n1", "terminationGracePeriodSeconds": 5, "volumes": volumes, "containers": [container]}
    return {"metadata": {"name": "server"}, "spec": {**spec, "initContainers": [first]}}


def shell(name: str, script: str, image: str = "shell:1", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": image, "args": ["-c", script]}
    return {"metadata": {"name": name}, "spec": {"nodeName": "n1", "containers": [container], **spec}}


RETRIED = "test -e /data/once && echo second && exit 0; touch /data/once; echo first; exit 5"
RETRIES = [
    {"name": "c", "image": "shell:1", "args": ["-c", RETRIED], "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
]


def ground(cluster: Any) -> None:
    """A node, and what the controller manager would make in a namespace."""
    post = cluster.client.request
    post("POST", "/api/v1/namespaces", {"metadata": {"name": "t"}})
    node = {"metadata": {"name": "n1"}, "spec": {"podCIDR": "10.64.1.0/24"}}
    node["status"] = {
        "addresses": [{"type": "InternalIP", "address": "10.128.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
    }
    post("POST", "/api/v1/nodes", node)
    post("POST", "/api/v1/namespaces/t/serviceaccounts", {"metadata": {"name": "default"}})
    ca = {"metadata": {"name": "kube-root-ca.crt"}, "data": {"ca.crt": "x"}}
    post("POST", "/api/v1/namespaces/t/configmaps", ca)


def prepare(cluster: Any, python: str) -> None:
    """The pods, and what one of them runs."""
    ground(cluster)
    post = cluster.client.request
    post("POST", "/api/v1/namespaces/t/configmaps", {"metadata": {"name": "code"}, "data": {"serve.py": SERVE}})
    for pod in (
        server(python),
        shell("once", "echo first; echo second; exit 3", restartPolicy="Never"),
        shell("retry", "", restartPolicy="OnFailure", containers=RETRIES, volumes=[{"name": "data", "emptyDir": {}}]),
        shell("crash", "echo again; exit 1"),
        shell("played", "true", image="busybox"),
    ):
        post("POST", PODS, pod)


def play(cluster: Any) -> dict[str, Any]:
    from tests.rehearsal.kubelet.cluster import sys, until

    seen: dict[str, Any] = {}
    status = lambda name: cluster.client.request("GET", f"{PODS}/{name}")["status"]  # noqa: E731
    entry = lambda name: status(name)["containerStatuses"][0]  # noqa: E731
    prepare(cluster, sys.executable)
    gateway = cluster.gateway()
    cluster.start_agent()

    until(lambda: status("once")["phase"] == "Failed", "a pod that ends")
    seen["once"] = (entry("once")["state"]["terminated"]["exitCode"], cluster.log("once", tailLines="1"))
    until(lambda: entry("crash")["restartCount"] >= 2, "two restarts")
    seen["crash"] = (entry("crash")["lastState"]["terminated"]["exitCode"], cluster.log("crash", previous="true"))
    until(lambda: status("retry")["phase"] == "Succeeded", "a pod that is started again until it succeeds")
    before = entry("retry")["lastState"]["terminated"]["exitCode"]
    seen["retry"] = (
        before,
        cluster.log("retry", previous="true"),
        cluster.log("retry"),
        entry("retry")["restartCount"],
    )
    seen["gateway_kept"] = cluster.gateway() == gateway
    seen["played"] = ("podIP" in status("played"), cluster.log("played"))
    seen["waiting"] = status("server")["phase"]  # its Secret is not there yet
    cluster.client.request(
        "POST", "/api/v1/namespaces/t/secrets", {"metadata": {"name": "late"}, "stringData": {"k": "old"}}
    )
    until(lambda: entry("server")["ready"], "a ready server")
    address = f"http://{status('server')['podIP']}:8080"
    seen["files"] = [cluster.fetch(address + path) for path in ("/data/first", "/etc/late/deep/k")]
    seen["words"] = cluster.log("server")
    patch = {"stringData": {"k": "new"}}
    merge = "application/merge-patch+json"
    cluster.client.request("PATCH", "/api/v1/namespaces/t/secrets/late", patch, content_type=merge)
    begun = time.monotonic()
    until(lambda: cluster.fetch(address + "/etc/late/deep/k") == "new", "the new Secret in the volume")
    seen["refresh_s"] = time.monotonic() - begun

    cluster.fetch(address + "/break")
    until(lambda: entry("server")["restartCount"] == 1 and entry("server")["ready"], "a restart by the liveness probe")
    cluster.end_agent(signal.SIGKILL)
    cluster.start_agent()
    until(
        lambda: entry("server")["restartCount"] == 2 and entry("server")["ready"], "a restart after the agent's death"
    )
    seen["address_kept"] = address == f"http://{status('server')['podIP']}:8080"
    serving = [line for line in cluster.processes() if line.startswith(sys.executable) and "serve.py" in line]
    seen["servers"] = len([line for line in serving if "shim" not in line])

    seen["node_lost"] = _lose_node(cluster)
    for name in ("server", "crash", "once", "retry"):
        cluster.client.request("DELETE", f"{PODS}/{name}")
    until(lambda: _names(cluster) == ["played"], "the pods' end")
    events = cluster.client.request("GET", "/api/v1/namespaces/t/events")["items"]
    seen["events"] = sorted({event["reason"] for event in events})
    folders = lambda: list((cluster.state / "pods").iterdir())  # noqa: E731
    gone = lambda: cluster.interfaces() == 0 and not cluster.processes() and not folders()  # noqa: E731
    seen["left"] = until(gone, "nothing left running")
    cluster.end_agent(signal.SIGTERM)
    return seen


def _lose_node(cluster: Any) -> str:
    """What the API server still says of a pod whose node has gone with all that ran there."""
    from tests.rehearsal.kubelet.cluster import until

    request = cluster.client.request
    node = {"metadata": {"name": "n2"}, "spec": {"podCIDR": "10.64.2.0/24"}}
    node["status"] = {"addresses": [{"type": "InternalIP", "address": "10.128.0.2"}]}
    request("POST", "/api/v1/nodes", node)
    request("POST", PODS, shell("lost", "exec sleep 12345", nodeName="n2", restartPolicy="Never"))
    running = lambda: [line for line in cluster.processes() if line.startswith("sleep 12345")]  # noqa: E731
    status = lambda: request("GET", f"{PODS}/lost")["status"]  # noqa: E731
    until(lambda: running() and status().get("phase") == "Running", "a pod on another node")
    request("DELETE", "/api/v1/nodes/n2")
    until(lambda: not running(), "the end of what ran on a node that is gone")
    phase = str(status()["phase"])
    request("DELETE", f"{PODS}/lost", query={"gracePeriodSeconds": 0})
    return phase


def _names(cluster: Any) -> list[str]:
    try:
        return sorted(pod["metadata"]["name"] for pod in cluster.client.request("GET", PODS)["items"])
    except ApiError:
        return []
