"""The files of /etc that every container is given, as the kubelet writes them (kubernetes.io: DNS for Services and Pods)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rehearsal.kubelet.containers.variables import hostname

PASSWD = (
    "root:x:0:0:root:/root:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n"
    "nonroot:x:65532:65532:nonroot:/home/nonroot:/bin/false\n"
)
GROUP = "root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n"
DOMAIN = "cluster.local"
"""The domain of a cluster's names: GKE's default (cloud.google.com/kubernetes-engine/docs/concepts/kube-dns)."""
NAME_SERVICES = "passwd: files\ngroup: files\nhosts: files dns\n"
"""nsswitch.conf(5): the sandbox's own file has no `dns`, but pods use the cluster's."""
NO_SERVER = "# A node of a rehearsal has no name server of its own.\n"


def full_name(pod: dict[str, Any]) -> str | None:
    """The name by which the pod's headless Service announces it; None for a pod that asks for none."""
    subdomain = pod["spec"].get("subdomain")
    return f"{hostname(pod)}.{subdomain}.{pod['metadata']['namespace']}.svc.{DOMAIN}" if subdomain else None


def hosts(pod: dict[str, Any], address: str) -> str:
    """The hosts file: the loopback names, the pod's own names, and the aliases that its spec adds."""
    lines = ["# Kubernetes-managed hosts file.", "127.0.0.1\tlocalhost", "::1\tlocalhost ip6-localhost ip6-loopback"]
    full = full_name(pod)
    lines.append("\t".join([address, *([full] if full else []), hostname(pod)]))
    for alias in pod["spec"].get("hostAliases") or []:
        lines.append("\t".join([alias["ip"], *(alias.get("hostnames") or [])]))
    return "\n".join(lines) + "\n"


def resolv(pod: dict[str, Any], name_server: str) -> str:
    """The resolver's file for the pod's dnsPolicy, with what its dnsConfig adds."""
    spec, config = pod["spec"], pod["spec"].get("dnsConfig") or {}
    policy = spec.get("dnsPolicy", "ClusterFirst")
    servers, searches, options = [], [], {}
    if policy == "ClusterFirstWithHostNet" or (policy == "ClusterFirst" and not spec.get("hostNetwork")):
        servers = [name_server]
        searches = [f"{pod['metadata']['namespace']}.svc.{DOMAIN}", f"svc.{DOMAIN}", DOMAIN]
        options = {"ndots": "5"}
    servers += config.get("nameservers") or []
    searches += config.get("searches") or []
    options |= {option["name"]: option.get("value") for option in config.get("options") or []}
    lines = [f"nameserver {server}" for server in dict.fromkeys(servers)]
    lines += [f"search {' '.join(dict.fromkeys(searches))}"] if searches else []
    words = [name if value is None else f"{name}:{value}" for name, value in options.items()]
    lines += [f"options {' '.join(words)}"] if words else []
    return "".join(f"{line}\n" for line in lines) or NO_SERVER


def write(
    folder: Path, pod: dict[str, Any], address: str, name_server: str, static: bool
) -> list[tuple[str, str, bool]]:
    """Writes the files and returns their binds; a root that shows the machine's own /etc keeps its users."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {
        "hosts": hosts(pod, address),
        "hostname": hostname(pod) + "\n",
        "resolv.conf": resolv(pod, name_server),
        "nsswitch.conf": NAME_SERVICES,
    }
    if static:
        files |= {"passwd": PASSWD, "group": GROUP}
    for name, text in files.items():
        (folder / name).write_text(text)
    return [(str(folder / name), f"/etc/{name}", False) for name in files]
