"""Kubeconfig files for the programs of a cluster's control plane, each with a certificate of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import yaml

from rehearsal.host.pki import Authority


def write(folder: Path, endpoint: str, authority: Authority, name: str, user: str, groups: Sequence[str] = ()) -> Path:
    """Writes `<name>.kubeconfig` in `folder` for `user` of `groups` at `endpoint`, and returns its path."""
    certificate, key = authority.issue(name, user, groups)
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "c",
                "cluster": {"server": endpoint, "certificate-authority": str(authority.certificate_file)},
            }
        ],
        "users": [{"name": "u", "user": {"client-certificate": str(certificate), "client-key": str(key)}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / f"{name}.kubeconfig"
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(content))
    return path
