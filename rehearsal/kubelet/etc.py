"""The files of /etc that every container is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PASSWD = (
    "root:x:0:0:root:/root:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
    "nonroot:x:65532:65532:nonroot:/home/nonroot:/bin/false\n"
)
GROUP = "root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n"
RESOLV = "# No name server answers in a rehearsal; /etc/hosts does.\n"


def hosts(pod: dict[str, Any], hostname: str, address: str) -> str:
    """The hosts file: the loopback names, the pod's own name, and the aliases that its spec adds."""
    lines = ["# Kubernetes-managed hosts file.", "127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback"]
    lines.append(f"{address}\t{hostname}")
    for alias in pod["spec"].get("hostAliases") or []:
        lines.append("\t".join([alias["ip"], *(alias.get("hostnames") or [])]))
    return "\n".join(lines) + "\n"


def write(folder: Path, pod: dict[str, Any], hostname: str, address: str, static: bool) -> list[tuple[str, str, bool]]:
    """Writes the files and returns their binds; a root that shows the machine's own /etc keeps its users."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {"hosts": hosts(pod, hostname, address), "hostname": hostname + "\n", "resolv.conf": RESOLV}
    if static:
        files |= {"passwd": PASSWD, "group": GROUP}
    for name, text in files.items():
        (folder / name).write_text(text)
    return [(str(folder / name), f"/etc/{name}", False) for name in files]
