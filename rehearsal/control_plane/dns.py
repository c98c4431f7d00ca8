"""The cluster's DNS: CoreDNS, which knows the cluster's Services and pods and nothing else (coredns.io/plugins/kubernetes)."""

from __future__ import annotations

from pathlib import Path

_COREFILE = """\
. {{
    bind {address}
    errors
    kubernetes cluster.local in-addr.arpa ip6.arpa {{
        kubeconfig {kubeconfig}
        pods insecure
        ttl 5
    }}
    template ANY ANY . {{
        rcode NXDOMAIN
    }}
}}
"""
"""Nothing is cached, so that a name is there as soon as its pod is; a name outside the cluster does not exist, for there is no
way out of a rehearsal."""


def write_settings(folder: Path, address: str, kubeconfig: Path) -> list[str]:
    """CoreDNS's words for one cluster, whose pods ask `address`; its settings are written to `folder`."""
    path = folder / "Corefile"
    path.write_text(_COREFILE.format(address=address, kubeconfig=kubeconfig))
    return ["-conf", str(path)]
