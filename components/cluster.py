"""A GKE cluster with private nodes: a standard one with its pool for system pods, or one whose nodes are Autopilot's."""

# Groups of inputs are passed on as `**dict[str, object]`, whose values have no types.
# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_gcp import container

from components.network import Network
from components.node_identity import OAUTH_SCOPES, NodeIdentity
from components.options import child
from components.project import ProjectServices
from settings.catalogue.labels import DEFAULT_POOL
from settings.schema.field_types import is_zone
from settings.schema.monitoring import MonitoringSection
from settings.schema.stack import ClusterSection, Settings


@dataclass(frozen=True)
class ClusterArgs:
    settings: Settings
    system_zones: tuple[str, ...]
    network: Network
    identity: NodeIdentity
    services: ProjectServices


class Cluster(pulumi.ComponentResource):
    """The control plane and, in a standard cluster, `default-pool`.

    The default pool is a resource of its own and the one GKE makes with a cluster is removed: a pool inside the
    cluster resource can only be changed by replacing the cluster. It costs some minutes, once. On Autopilot there is
    neither: Google brings nodes for the pods that there are.
    """

    name: pulumi.Output[str]
    endpoint: pulumi.Output[str]
    ca_certificate: pulumi.Output[str]
    location: str
    cluster: container.Cluster
    system_nodes: list[pulumi.Resource]
    """What must be there before a pod of ours can run."""

    def __init__(self, name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:cluster:Cluster", name, None, opts)
        self.location = args.settings.location
        if args.settings.cluster.existing:
            self.cluster = self._existing(name, args)
            self.system_nodes = [self.cluster]
        else:
            self.cluster = self._control_plane(name, args)
            autopilot = args.settings.cluster.mode == "autopilot"
            self.system_nodes = [self.cluster] if autopilot else [self._system_pool(name, args)]
        self.name = self.cluster.name
        self.endpoint = self.cluster.endpoint
        self.ca_certificate = self.cluster.master_auth.apply(lambda auth: str(auth.cluster_ca_certificate))
        self.register_outputs({"name": self.name, "endpoint": self.endpoint})

    def _existing(self, name: str, args: ClusterArgs) -> container.Cluster:
        """Somebody else's cluster, read at every run and never written: the engine forgets it when the stack is destroyed.
        Without such a cluster the run ends here."""
        settings = args.settings
        identity = f"projects/{settings.project}/locations/{settings.location}/clusters/{settings.cluster.name}"
        found: container.Cluster = container.Cluster.get(
            name, identity, opts=child(self, args.services.need("container"))
        )
        if settings.checkpoints.enabled:
            found.addons_config.apply(lambda addons: must_mount_buckets(addons, settings.cluster.name))
        return found

    def _control_plane(self, name: str, args: ClusterArgs) -> container.Cluster:
        settings, section = args.settings, args.settings.cluster
        autopilot = section.mode == "autopilot"
        return container.Cluster(
            name,
            name=section.name,
            project=settings.project,
            location=settings.location,
            release_channel=container.ClusterReleaseChannelArgs(channel=section.release_channel),
            min_master_version=section.version,
            deletion_protection=settings.deletion_protection,
            resource_labels=dict(settings.labels),
            addons_config=_addons(settings),
            monitoring_config=_monitoring(settings.monitoring),
            workload_identity_config=container.ClusterWorkloadIdentityConfigArgs(
                workload_pool=f"{settings.project}.svc.id.goog"
            ),
            master_authorized_networks_config=_authorized_networks(section),
            authenticator_groups_config=_security_group(section.security_group),
            **_network_inputs(args),
            **(_autopilot_inputs(args) if autopilot else _standard_inputs(args)),
            opts=child(
                self,
                [
                    *args.services.need("container", "containerfilesystem", "tpu"),
                    *args.network.egress,
                    *args.identity.roles,
                ],
                settings.timeouts.cluster,
                # A protected cluster stops `destroy` at its plan, before anything inside the cluster is deleted;
                # GKE's own flag would stop it only when everything else is gone.
                protect=settings.deletion_protection,
                # All three describe the first pool, which is gone by the time anybody compares.
                ignore_changes=[] if autopilot else ["nodeConfig", "nodePools", "initialNodeCount"],
            ),
        )

    def _system_pool(self, name: str, args: ClusterArgs) -> container.NodePool:
        settings, pool = args.settings, args.settings.cluster.default_pool
        return container.NodePool(
            f"{name}-default-pool",
            name=DEFAULT_POOL,
            project=settings.project,
            location=settings.location,
            cluster=self.cluster.name,
            node_count=pool.nodes,
            node_locations=list(args.system_zones),
            node_config=node_config(pool.machine_type, args.network, args.identity),
            management=container.NodePoolManagementArgs(auto_repair=True, auto_upgrade=True),
            upgrade_settings=container.NodePoolUpgradeSettingsArgs(max_surge=1),
            opts=child(
                self,
                [*args.services.need("container"), *args.identity.roles],
                settings.timeouts.pool,
                delete_before_replace=True,
            ),
        )


def node_config(
    machine_type: str, network: Network, identity: NodeIdentity, further: Mapping[str, Any] | None = None
) -> container.NodePoolNodeConfigArgs:
    """What all nodes have in common, whatever their machine type, and `further` fields of some.

    More than gcloud asks for, each for a reason: an account of their own in place of the default one; the tag that
    the webhook rule selects; image streaming, which starts multi-gigabyte images in seconds; the metadata server of
    Workload Identity, without which pods get the node's identity.
    """
    return container.NodePoolNodeConfigArgs(
        machine_type=machine_type,
        service_account=identity.email,
        oauth_scopes=OAUTH_SCOPES,
        tags=[network.node_tag],
        gcfs_config=container.NodePoolNodeConfigGcfsConfigArgs(enabled=True),
        workload_metadata_config=container.NodePoolNodeConfigWorkloadMetadataConfigArgs(mode="GKE_METADATA"),
        **(further if further is not None else {}),
    )


def _standard_inputs(args: ClusterArgs) -> dict[str, object]:
    """`enable_autopilot` is left out, not False: stated as False it clashes with removing the default pool."""
    return {
        "node_locations": _node_locations(args),
        "remove_default_node_pool": True,
        "initial_node_count": 1,
        # The short-lived first pool: many organisations forbid nodes that run as the default account.
        "node_config": container.ClusterNodeConfigArgs(service_account=args.identity.email, oauth_scopes=OAUTH_SCOPES),
        "node_pool_defaults": _image_streaming(),
    }


def _autopilot_inputs(args: ClusterArgs) -> dict[str, object]:
    """No pool and no node configuration, which Autopilot ignores: its nodes get our account by the defaults of
    auto-provisioning (hashicorp/terraform-provider-google #20230), and the tag of the webhook rule by the settings for all
    pools that Google makes. Image streaming and Workload Identity are always on there."""
    return {
        "enable_autopilot": True,
        "cluster_autoscaling": container.ClusterClusterAutoscalingArgs(
            auto_provisioning_defaults=container.ClusterClusterAutoscalingAutoProvisioningDefaultsArgs(
                service_account=args.identity.email, oauth_scopes=OAUTH_SCOPES
            )
        ),
        "node_pool_auto_config": container.ClusterNodePoolAutoConfigArgs(
            network_tags=container.ClusterNodePoolAutoConfigNetworkTagsArgs(tags=[args.network.node_tag])
        ),
    }


def _node_locations(args: ClusterArgs) -> list[str] | None:
    """A regional cluster's zones: without them the first pool is made in three. A zonal one states none."""
    return None if is_zone(args.settings.location) else list(args.system_zones)


def _addons(settings: Settings) -> container.ClusterAddonsConfigArgs:
    """The Ray operator as GKE's add-on: KubeRay and the webhook for TPU workers, run and upgraded by Google. Its absence is
    stated too: what is only left out stays as it was on the cluster."""
    wanted = settings.ray.operator == "addon"
    return container.ClusterAddonsConfigArgs(
        ray_operator_configs=[container.ClusterAddonsConfigRayOperatorConfigArgs(enabled=wanted)],
        gcs_fuse_csi_driver_config=_cloud_storage_fuse(settings),
    )


def _cloud_storage_fuse(settings: Settings) -> container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs | None:
    """What mounts the bucket of the checkpoints. On Autopilot it is always on; and where nobody needs it any more it stays on,
    as pods by hand may."""
    if not settings.checkpoints.enabled or settings.cluster.mode == "autopilot":
        return None
    return container.ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(enabled=True)


def _monitoring(section: MonitoringSection) -> container.ClusterMonitoringConfigArgs | None:
    """What is not stated stays as GKE has it."""
    if section.components is None and section.managed_prometheus is None:
        return None
    prometheus = container.ClusterMonitoringConfigManagedPrometheusArgs
    return container.ClusterMonitoringConfigArgs(
        enable_components=section.components,
        managed_prometheus=prometheus(enabled=section.managed_prometheus)
        if section.managed_prometheus is not None
        else None,
    )


def must_mount_buckets(addons: Any, cluster: str) -> None:
    """Raises RunError where a cluster of somebody else's has not what mounts the bucket of the checkpoints: its pods would wait
    for their volume for ever."""
    if addons is None:
        return
    driver = addons.gcs_fuse_csi_driver_config
    if driver is None or not driver.enabled:
        raise pulumi.RunError(
            f"the cluster {cluster} (cluster.existing) has no driver for Cloud Storage FUSE, which checkpoints need: have its owner "
            f"run `gcloud container clusters update {cluster} --update-addons GcsFuseCsiDriver=ENABLED`, or remove `checkpoints`"
        )


def _image_streaming() -> container.ClusterNodePoolDefaultsArgs:
    """For pools that are made beside us, by hand or by node auto-provisioning."""
    return container.ClusterNodePoolDefaultsArgs(
        node_config_defaults=container.ClusterNodePoolDefaultsNodeConfigDefaultsArgs(
            gcfs_config=container.ClusterNodePoolDefaultsNodeConfigDefaultsGcfsConfigArgs(enabled=True)
        )
    )


def _authorized_networks(section: ClusterSection) -> container.ClusterMasterAuthorizedNetworksConfigArgs | None:
    """GKE refuses a private endpoint without the list, but takes an empty one: the nodes' own network is always let in."""
    if not section.authorized_networks and not section.private_endpoint:
        return None
    blocks = [
        container.ClusterMasterAuthorizedNetworksConfigCidrBlockArgs(cidr_block=cidr)
        for cidr in section.authorized_networks
    ]
    return container.ClusterMasterAuthorizedNetworksConfigArgs(cidr_blocks=blocks)


def _security_group(group: str | None) -> container.ClusterAuthenticatorGroupsConfigArgs | None:
    return container.ClusterAuthenticatorGroupsConfigArgs(security_group=group) if group is not None else None


def _network_inputs(args: ClusterArgs) -> dict[str, object]:
    """VPC-native, with private nodes. The endpoint is public unless it is said otherwise: users and `pulumi` come from outside."""
    return {
        "network": args.network.network,
        "subnetwork": args.network.subnetwork,
        "networking_mode": "VPC_NATIVE",
        "ip_allocation_policy": container.ClusterIpAllocationPolicyArgs(
            cluster_secondary_range_name=args.network.pods_range,
            services_secondary_range_name=args.network.services_range,
        ),
        "private_cluster_config": container.ClusterPrivateClusterConfigArgs(
            enable_private_nodes=True,
            enable_private_endpoint=args.settings.cluster.private_endpoint,
            master_ipv4_cidr_block=args.settings.network.control_plane_cidr,
        ),
    }
