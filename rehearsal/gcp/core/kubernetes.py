"""What Google's side needs of Kubernetes, as protocols. Nothing below `rehearsal.gcp` knows who implements them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rehearsal.gcp.core.store import Object

if TYPE_CHECKING:
    from rehearsal.gcp.core.state import CloudState


class Backend(Protocol):
    """Runs the control planes of clusters."""

    version: str

    def start(self, cluster_id: str) -> Any: ...

    def stop(self, cluster_id: str) -> None: ...


class Kubernetes(Protocol):
    """Maintains what GKE maintains inside running clusters."""

    def keep(self, state: CloudState) -> None:
        """Starts the autoscaler and the node controller, and returns when the server ends."""

    def apply_nodes(self, state: CloudState, pool: Object) -> None:
        """Makes the nodes of a pool match the pool, and waits for them."""

    def remove_nodes(self, state: CloudState, pool: Object) -> None:
        """Drains and removes the nodes of a pool."""

    def enforce_autopilot(self, kubeconfig: Path) -> None:
        """Installs Autopilot's admission rules in an Autopilot cluster. Idempotent."""

    def apply_addons(self, state: CloudState, cluster_name: str) -> None:
        """Makes the add-ons of a cluster match the cluster's record, and waits for them. Idempotent."""

    def leftovers(self, cluster: Object) -> list[str]:
        """Names of the objects in a cluster that a clean teardown would have removed."""


class NoKubernetes:
    """Clusters without Kubernetes: the REST APIs alone."""

    def keep(self, state: CloudState) -> None:
        pass

    def apply_nodes(self, state: CloudState, pool: Object) -> None:
        pass

    def remove_nodes(self, state: CloudState, pool: Object) -> None:
        pass

    def enforce_autopilot(self, kubeconfig: Path) -> None:
        pass

    def apply_addons(self, state: CloudState, cluster_name: str) -> None:
        pass

    def leftovers(self, cluster: Object) -> list[str]:
        return []
