"""`python -m rehearsal.gcp_provider`: serves the provider for the engine to attach to (PULUMI_DEBUG_PROVIDERS=gcp:PORT)."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto.provider_pb2_grpc import add_ResourceProviderServicer_to_server

from rehearsal.gcp_provider.protocol.servicer import Provider
from rehearsal.gcp_provider.resources import KINDS

_THREADS = 64
"""A request that waits for Google holds a thread; the engine sends at most as many as it has resources under way."""
_MESSAGE_BYTES = 400 * 1024 * 1024


def serve(port: int, google: str | None) -> tuple[grpc.Server, int]:
    """Starts it; gives the server and its port. Port 0 takes any."""
    options = [("grpc.max_receive_message_length", _MESSAGE_BYTES), ("grpc.max_send_message_length", _MESSAGE_BYTES)]
    # A port that another process serves has to be an error, not a second listener beside it.
    server = grpc.server(ThreadPoolExecutor(_THREADS), options=[*options, ("grpc.so_reuseport", 0)])
    add_ResourceProviderServicer_to_server(Provider(google), server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound


def know_all() -> None:
    """Reads the types of all supported kinds."""
    for kind in KINDS.values():
        kind.types  # noqa: B018


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearsal.gcp_provider", description=__doc__)
    parser.add_argument("--port", type=int, default=8086)
    parser.add_argument(
        "--google", help="where Google's APIs are served (default: Google's own hosts, or GOOGLE_*_CUSTOM_ENDPOINT)"
    )
    arguments = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    server, _ = serve(arguments.port, arguments.google)
    # A second of imports, done while the engine and its program start, instead of at the first resource.
    threading.Thread(target=know_all, daemon=True).start()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
    server.stop(grace=2).wait()


if __name__ == "__main__":
    main()
