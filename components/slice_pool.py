"""A slice pool: one node pool that is one TPU slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pulumi
from pulumi_gcp import compute, container

from components.cluster import Cluster, node_config
from components.network import Network
from components.node_identity import NodeIdentity
from components.options import child
from components.project import ProjectServices
from settings.catalogue.accelerators import Placement, SliceShape
from settings.plan.plan import PoolPlan
from settings.schema.field_types import region_of, shortened
from settings.schema.stack import Settings

LANES = 3
"""Slice pools that may be in the making at a time. With the default pool that makes 4; GKE answers 429 to a fifth
operation at once and works on one per cluster anyway."""

_POLICY_NAME_LIMIT = 63
"""Of a resource policy's name (Compute Engine), which two names of up to 40 characters can exceed."""


@dataclass(frozen=True)
class SlicePoolArgs:
    pool: PoolPlan
    settings: Settings
    cluster: Cluster
    network: Network
    identity: NodeIdentity
    services: ProjectServices
    after: Sequence[pulumi.Resource] = field(default=())
    """Pools that must be finished first, so that no more than LANES are in the making."""


class SlicePool(pulumi.ComponentResource):
    """What this asks of GKE equals what `gcloud container node-pools create --tpu-topology` asks, but for

    - the placement's `type`, which gcloud leaves out and GKE fills in: the provider requires it;
    - the node's account, scopes, tag, image streaming and metadata server (reasons at `node_config`);
    - of flex-start and queued pools: no reservation, no repair, no surge and a longest running time are stated, and for
      queued ones the location policy. gcloud leaves them out; Google's own toolkit states them, since GKE refuses or
      ignores other values and the defaults of the provider are others.
    """

    name: pulumi.Output[str]
    pool: container.NodePool

    def __init__(self, name: str, args: SlicePoolArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:pool:SlicePool", name, None, opts)
        settings, shape, capacity = args.settings, args.pool.shape, args.pool.capacity
        self.pool = container.NodePool(
            f"{name}-pool",
            name=args.pool.name,
            project=settings.project,
            location=settings.location,
            cluster=args.cluster.name,
            # A slice is all of its hosts. Where the size is fixed it is stated, so that a pool that lost hosts shows up as
            # a difference; on creation the provider sends it as initialNodeCount, as gcloud does. Where the pool scales,
            # only its bounds are stated: the provider takes an initial count of 0 for none.
            node_count=shape.hosts if args.pool.bounds is None else None,
            autoscaling=_autoscaling(args.pool),
            node_locations=[args.pool.zone],
            node_config=node_config(shape.machine.name, args.network, args.identity, _capacity(args.pool)),
            placement_policy=self._placement(name, args),
            queued_provisioning=container.NodePoolQueuedProvisioningArgs(enabled=True) if capacity.queued else None,
            management=container.NodePoolManagementArgs(auto_repair=not capacity.lent, auto_upgrade=True),
            # gcloud's default. A multi-host slice is recreated as a whole whatever is stated here; nodes that are lent
            # are upgraded when they are made anew, and GKE lets nobody configure it.
            upgrade_settings=None if capacity.lent else container.NodePoolUpgradeSettingsArgs(max_surge=1),
            opts=self._options(args),
        )
        self.name = self.pool.name
        self.register_outputs({"name": self.name, "topology": shape.topology, "chips": shape.chips})

    @property
    def flex_start(self) -> pulumi.Output[bool]:
        """What GKE reads back: whether the nodes are flex-start ones."""
        read_back: pulumi.Output[bool] = self.pool.node_config.apply(lambda config: bool(config.flex_start))
        return read_back

    def _options(self, args: SlicePoolArgs) -> pulumi.ResourceOptions:
        """The provider would send a new machine type as an update, which GKE does not carry out for TPU pools: it is
        a replacement, and the old pool goes first, since there are rarely chips for both."""
        return child(
            self,
            [*args.services.need("container", "tpu"), *args.identity.roles, *args.after],
            args.settings.timeouts.pool,
            protect=args.settings.deletion_protection,
            replace_on_changes=["nodeConfig.machineType", "placementPolicy"],
            delete_before_replace=True,
        )

    def _placement(self, name: str, args: SlicePoolArgs) -> container.NodePoolPlacementPolicyArgs | None:
        shape = args.pool.shape
        if shape.placement is Placement.NONE:
            return None
        if shape.placement is Placement.COMPACT:
            return container.NodePoolPlacementPolicyArgs(type="COMPACT", tpu_topology=shape.topology)
        policy = self._workload_policy(name, args, shape)
        # As GKE stores it: it fills in the policy's topology and no type (vllm-project/ci-infra #547). What is left out here and is
        # there, or the other way round, is a difference for the provider, and replaces the pool at every `up`.
        return container.NodePoolPlacementPolicyArgs(type="", policy_name=policy.name, tpu_topology=shape.topology)

    def _workload_policy(self, name: str, args: SlicePoolArgs, shape: SliceShape) -> compute.ResourcePolicy:
        return compute.ResourcePolicy(
            f"{name}-placement",
            name=shortened(f"{args.settings.cluster.name}-{args.pool.name}", _POLICY_NAME_LIMIT),
            project=args.settings.project,
            region=region_of(args.settings.location),
            workload_policy=compute.ResourcePolicyWorkloadPolicyArgs(
                type="HIGH_THROUGHPUT", accelerator_topology=shape.topology
            ),
            opts=child(self, args.services.need("compute"), delete_before_replace=True),
        )


def _autoscaling(pool: PoolPlan) -> container.NodePoolAutoscalingArgs | None:
    """Limits per zone, not in total: with total ones alone GKE checks a TPU pool against a limit of 0. Lent capacity is
    taken wherever it is to be had, which GKE calls ANY."""
    if pool.bounds is None:
        return None
    fewest, most = pool.bounds
    policy = "ANY" if pool.capacity.lent else None
    return container.NodePoolAutoscalingArgs(min_node_count=fewest, max_node_count=most, location_policy=policy)


def _capacity(pool: PoolPlan) -> dict[str, object]:
    """The fields of a node that say where its machine comes from."""
    capacity, fields = pool.capacity, dict[str, object]()
    if capacity.reserved:
        fields["reservation_affinity"] = container.NodePoolNodeConfigReservationAffinityArgs(
            consume_reservation_type="SPECIFIC_RESERVATION",
            key="compute.googleapis.com/reservation-name",
            values=[pool.reservation],  # pyright: ignore[reportArgumentType]  (validation: a reservation has a name)
        )
    elif capacity.unreserved or pool.bounds is not None:
        # A pool that grows by itself must not eat what somebody reserved for other work.
        fields["reservation_affinity"] = container.NodePoolNodeConfigReservationAffinityArgs(
            consume_reservation_type="NO_RESERVATION"
        )
    if capacity.flex_start:
        fields["flex_start"] = True
    if capacity.spot:
        fields["spot"] = True
    if pool.max_run_seconds is not None:
        fields["max_run_duration"] = f"{pool.max_run_seconds}s"
    if pool.labels:
        fields["labels"] = dict(pool.labels)
    return fields
