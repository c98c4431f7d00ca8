"""Lets loopback clients of this machine in: a TCP port outside, relayed over a Unix socket to an address inside.

Two small relays. The gateway (inside) takes connections on a Unix socket, reads one line `host:port` and relays to it; the
forwarder (outside) listens on loopback ports and names the target of each. Nothing inside can use either to get out: the
gateway only answers, and only on a socket in the state folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
from pathlib import Path

CHUNK = 64 * 1024


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except (ConnectionError, OSError):
        pass
    finally:
        try:
            writer.write_eof()
        except (OSError, RuntimeError):
            writer.close()


async def _relay(
    a: tuple[asyncio.StreamReader, asyncio.StreamWriter], b: tuple[asyncio.StreamReader, asyncio.StreamWriter]
) -> None:
    await asyncio.gather(_pump(a[0], b[1]), _pump(b[0], a[1]))
    for _, writer in (a, b):
        writer.close()


async def gateway(path: Path) -> None:
    """Serves the Unix socket inside the sandbox."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            host, port = (await reader.readline()).decode().strip().rsplit(":", 1)
            inside = await asyncio.open_connection(host, int(port))
        except (OSError, ValueError):
            writer.close()
            return
        await _relay((reader, writer), inside)

    path.unlink(missing_ok=True)
    server = await asyncio.start_unix_server(serve, path)
    os.chmod(path, 0o600)
    await server.serve_forever()


async def forwarder(path: Path, ports: dict[int, str]) -> None:
    """Listens on 127.0.0.1 at each port and relays to its target through the gateway's socket at `path`."""

    def to(target: str):  # type: ignore[no-untyped-def]
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                inside = await asyncio.open_unix_connection(path)
            except OSError:
                writer.close()
                return
            inside[1].write(f"{target}\n".encode())
            await _relay((reader, writer), inside)

        return serve

    servers = [await asyncio.start_server(to(target), "127.0.0.1", port) for port, target in ports.items()]
    await asyncio.gather(*(server.serve_forever() for server in servers))


def free_port(wanted: int | None = None) -> int:
    """A free loopback port: `wanted` when it is free, else any. Raises OSError when an explicitly wanted one is taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", wanted if wanted is not None else 0))
        return int(probe.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearsal.host.forward")
    parser.add_argument("role", choices=["gateway", "forwarder"])
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--ports", type=json.loads, default={}, help="JSON object: loopback port to host:port inside")
    arguments = parser.parse_args()
    if arguments.role == "gateway":
        asyncio.run(gateway(arguments.socket))
    else:
        asyncio.run(forwarder(arguments.socket, {int(port): target for port, target in arguments.ports.items()}))


if __name__ == "__main__":
    main()
