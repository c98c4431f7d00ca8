"""The Kubernetes Engine API, v1 and v1beta1."""

from rehearsal.gcp.container import clusters, operations, pools, updates
from rehearsal.gcp.container.clusters import reassert
from rehearsal.gcp.container.versions import CHANNELS, offered
from rehearsal.gcp.core import Call, Handler, Object
from rehearsal.gcp.core.world import Task


def _server_config(call: Call) -> Object:
    version = offered(call.world)
    return {
        "defaultClusterVersion": version,
        "validMasterVersions": [version],
        "validNodeVersions": [version],
        "defaultImageType": "COS_CONTAINERD",
        "validImageTypes": ["COS_CONTAINERD", "UBUNTU_CONTAINERD"],
        "channels": [
            {"channel": channel, "defaultVersion": version, "validVersions": [version]} for channel in CHANNELS
        ],
    }


HANDLERS: dict[str, Handler] = {
    "container.projects.locations.getServerConfig": _server_config,
    "container.projects.zones.getServerconfig": _server_config,
    **operations.HANDLERS,
    **clusters.HANDLERS,
    **pools.HANDLERS,
    **updates.HANDLERS,
}
TASKS: dict[str, Task] = {**clusters.TASKS, **pools.TASKS, **updates.TASKS}

__all__ = ["HANDLERS", "TASKS", "reassert"]
