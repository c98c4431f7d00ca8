"""The Kubernetes Engine API, v1 and v1beta1."""

from rehearsal.gcp.container import clusters, operations, pools, updates
from rehearsal.gcp.container.versions import CHANNELS, offered
from rehearsal.gcp.core import Call, CloudState, Handler, Object, Service


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


_HANDLERS: dict[str, Handler] = {
    "container.projects.locations.getServerConfig": _server_config,
    "container.projects.zones.getServerconfig": _server_config,
    **operations.HANDLERS,
    **clusters.HANDLERS,
    **pools.HANDLERS,
    **updates.HANDLERS,
}


def _in_deleted_clusters(state: CloudState) -> list[str]:
    """What a cluster still held when it was deleted."""
    return [thing for row in state.store.list("census") for thing in row["left"]]


SERVICE = Service(
    name="container",
    versions=("v1", "v1beta1"),
    handlers=_HANDLERS,
    custom_endpoints={"CONTAINER": "v1beta1/"},
    must_be_enabled=True,
    tasks={**clusters.TASKS, **pools.TASKS, **updates.TASKS},
    resources={"clusters": "clusters", "pools": "pools"},
    leftovers={"kubernetes objects of deleted clusters": _in_deleted_clusters},
    resume=clusters.reassert,
)
