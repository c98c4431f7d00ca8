"""A VPC-native network of the platform's own, or an existing one, and the way for webhooks in either."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_gcp import compute

from components.options import child
from components.project import ProjectServices
from settings.schema.network import NetworkSection

PODS_RANGE = "pods"
SERVICES_RANGE = "services"

WEBHOOK_PORTS = ("9443", "8082")
"""What the control plane must reach on nodes beside GKE's own 443 and 10250: the webhooks of Kueue and JobSet, and
Kueue's visibility API, which the API server aggregates. Their metrics (8443) are read from inside the cluster."""


@dataclass(frozen=True)
class NetworkArgs:
    """Plain values: they decide how many resources there are."""

    cluster: str
    project: str
    region: str
    settings: NetworkSection | None
    """None for the network of an existing cluster, which is its owner's."""
    services: ProjectServices


class Network(pulumi.ComponentResource):
    """Attributes are what a cluster needs of its network, whoever owns it, and its pools: the tag of our nodes."""

    network: pulumi.Output[str]
    subnetwork: pulumi.Output[str]
    pods_range: str
    services_range: str
    """These four are for a cluster that is to be made: an existing one has its network already."""
    node_tag: str
    egress: list[pulumi.Resource]
    """What private nodes need before they can reach anything outside."""

    def __init__(self, name: str, args: NetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:network:Network", name, None, opts)
        self.node_tag = f"{args.cluster}-node"
        self.egress = []
        if args.settings is None:
            self.register_outputs({})
            return
        self._find_or_create(name, args, args.settings)
        self.register_outputs({"network": self.network, "subnetwork": self.subnetwork})

    def _find_or_create(self, name: str, args: NetworkArgs, settings: NetworkSection) -> None:
        existing = settings.existing
        if existing is None:
            self._create(name, args, settings)
        else:
            self.network = pulumi.Output.from_input(existing.network)
            self.subnetwork = pulumi.Output.from_input(existing.subnetwork)
            self.pods_range, self.services_range = existing.pods_range, existing.services_range
        if existing is None or existing.firewall:
            self._open_webhooks(name, args, settings.control_plane_cidr)

    def _create(self, name: str, args: NetworkArgs, settings: NetworkSection) -> None:
        vpc = compute.Network(
            f"{name}-vpc",
            name=f"{args.cluster}-network",
            project=args.project,
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            opts=child(self, args.services.need("compute")),
        )
        subnet = self._subnetwork(name, args, settings, vpc)
        # The form projects/P/global/networks/N is the one GKE reads back. A short name would show up as a difference
        # that replaces the cluster.
        self.network, self.subnetwork = vpc.id, subnet.id
        self.pods_range, self.services_range = PODS_RANGE, SERVICES_RANGE
        self.egress = [self._nat(name, args, vpc)]

    def _subnetwork(
        self, name: str, args: NetworkArgs, settings: NetworkSection, vpc: compute.Network
    ) -> compute.Subnetwork:
        ranges = ((PODS_RANGE, settings.pods_cidr), (SERVICES_RANGE, settings.services_cidr))
        return compute.Subnetwork(
            f"{name}-subnet",
            name=f"{args.cluster}-subnet",
            project=args.project,
            region=args.region,
            network=vpc.id,
            ip_cidr_range=settings.nodes_cidr,
            private_ip_google_access=True,
            secondary_ip_ranges=[
                compute.SubnetworkSecondaryIpRangeArgs(range_name=label, ip_cidr_range=cidr) for label, cidr in ranges
            ],
            opts=child(self, args.services.need("compute")),
        )

    def _nat(self, name: str, args: NetworkArgs, vpc: compute.Network) -> compute.RouterNat:
        """Private nodes have no address of their own; images outside Google come through this."""
        router = compute.Router(
            f"{name}-router",
            name=f"{args.cluster}-router",
            project=args.project,
            region=args.region,
            network=vpc.id,
            opts=child(self, args.services.need("compute")),
        )
        return compute.RouterNat(
            f"{name}-nat",
            name=f"{args.cluster}-nat",
            project=args.project,
            region=args.region,
            router=router.name,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="ALL_SUBNETWORKS_ALL_IP_RANGES",
            opts=child(self, args.services.need("compute")),
        )

    def _open_webhooks(self, name: str, args: NetworkArgs, control_plane: str) -> None:
        """Without this rule the API server's calls to webhooks on private nodes end in `context deadline exceeded`."""
        self.egress.append(
            compute.Firewall(
                f"{name}-webhooks",
                name=f"{args.cluster}-webhooks",
                project=args.project,
                network=self.network,
                description="GKE control plane to the webhooks of Kueue and JobSet",
                direction="INGRESS",
                source_ranges=[control_plane],
                target_tags=[self.node_tag],
                allows=[compute.FirewallAllowArgs(protocol="tcp", ports=list(WEBHOOK_PORTS))],
                opts=child(self, args.services.need("compute")),
            )
        )
