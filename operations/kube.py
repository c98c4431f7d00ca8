"""Reading the rehearsal's cluster with the user's own credentials, from outside the sandbox."""

from __future__ import annotations

from rehearsal.kubeapi import KubeApi
from rehearsal.layout import Layout
from rehearsal.lifecycle import write_kubeconfig


class Cluster(KubeApi):
    """The API of one cluster, or of the only one."""

    def __init__(self, layout: Layout, name: str | None = None) -> None:
        super().__init__(write_kubeconfig(layout, name))

    def found(self, path: str) -> bool:
        return self.get(path) is not None
