"""`python -m rehearsal.kubelet`: runs the pods of one cluster until it is told to end."""

from __future__ import annotations

import argparse
import fcntl
import ipaddress
import signal
import threading
import time
from pathlib import Path

from rehearsal.kubelet.api.events import Events
from rehearsal.kubelet.api.server import Server
from rehearsal.kubelet.api.tokens import Tokens
from rehearsal.kubelet.network import namespace
from rehearsal.kubelet.pods.agent import Agent, Watches
from rehearsal.kubelet.pods.context import Context
from rehearsal.kubelet.pods.memory_budget import PART, MemoryBudget, available
from rehearsal.kubelet.volumes.buckets import Buckets
from rehearsal.kubernetes import image_table
from rehearsal.kubernetes.client import Client

DEFAULT_BACKOFF_SCALE = 0.1
LOCK_TIMEOUT_S = 15.0


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="rehearsal.kubelet", description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--images", type=Path, required=True, help="the image table")
    parser.add_argument("--state", type=Path, required=True, help="where pods, logs and volumes are kept")
    parser.add_argument(
        "--address", default="", help="the control plane's address, for messages; else the service host"
    )
    parser.add_argument("--kubelet-port", type=int, required=True)
    parser.add_argument("--pods-bridge", required=True)
    parser.add_argument("--gateway", default=None, help="the pods' gateway; else the bridge's own address")
    parser.add_argument("--name-server", default=None, help="the cluster's DNS; else the gateway")
    parser.add_argument("--service-host", required=True, help="KUBERNETES_SERVICE_HOST of every container")
    parser.add_argument("--service-port", type=int, required=True)
    parser.add_argument("--serving-cert", required=True)
    parser.add_argument("--serving-key", required=True)
    parser.add_argument("--client-ca", required=True)
    parser.add_argument("--google", default="", help="where Google's APIs answer; without it there are no buckets")
    parser.add_argument("--cluster", default="", help="this cluster's name there: projects/*/locations/*/clusters/*")
    parser.add_argument("--buckets", type=Path, default=Path(), help="the folder of the buckets' folders")
    help_text = "multiplies the kubelet's delays between restarts (10 s, doubling to 300 s)"
    parser.add_argument("--backoff-scale", type=float, default=DEFAULT_BACKOFF_SCALE, help=help_text)
    return parser.parse_args(words)


def lock(state: Path) -> object:
    """Holds the state folder against a second agent for as long as the answer lives. Ends the program if it is held."""
    handle = open(state / "lock", "w")  # noqa: SIM115 - open until the process ends
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"another kubelet already serves the state at {state}") from error
            time.sleep(0.2)


def gateway(options: argparse.Namespace) -> ipaddress.IPv4Interface:
    """The bridge's address with its prefix, with another gateway's address if one was named."""
    bridge = namespace.bridge_address(options.pods_bridge)
    if options.gateway is None:
        return bridge
    return ipaddress.IPv4Interface(f"{options.gateway}/{bridge.network.prefixlen}")


def main() -> None:
    options = arguments()
    state = options.state.resolve()
    (state / "pods").mkdir(parents=True, exist_ok=True)
    state.chmod(0o700)
    held = lock(state)
    client = Client(options.kubeconfig)
    watches = Watches(client)
    outside = gateway(options)
    context = Context(
        client=client,
        events=Events(client),
        tokens=Tokens(client),
        table=image_table.load(options.images),
        state=state,
        bridge=options.pods_bridge,
        gateway=outside,
        service_host=options.service_host,
        service_port=options.service_port,
        name_server=str(outside.ip) if options.name_server is None else options.name_server,
        backoff_scale=options.backoff_scale,
        room=MemoryBudget(available() * PART),
        buckets=Buckets(options.google, options.cluster, options.buckets) if options.google else None,
        find=watches.find,
        node=watches.node,
        pod_addresses=watches.pod_addresses,
    )
    agent = Agent(context, watches)
    server = Server(options.kubelet_port, agent, options.serving_cert, options.serving_key, options.client_ca)
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 5.0}, name="https", daemon=True).start()
    threading.Thread(target=agent.start, name="start", daemon=True).start()
    print(f"kubelet of {options.address or options.service_host}: serving on port {options.kubelet_port}", flush=True)
    over.wait()
    agent.stop()
    del held


if __name__ == "__main__":
    main()
