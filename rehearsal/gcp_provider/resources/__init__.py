"""The supported kinds of resources, by their token."""

from __future__ import annotations

from rehearsal.gcp_provider.resources.bucket import Bucket
from rehearsal.gcp_provider.resources.cluster import Cluster
from rehearsal.gcp_provider.resources.dashboard import Dashboard
from rehearsal.gcp_provider.resources.firewall import Firewall
from rehearsal.gcp_provider.resources.members import BucketMember, ProjectMember, ServiceAccountMember
from rehearsal.gcp_provider.resources.network import Network
from rehearsal.gcp_provider.resources.node_pool import NodePool
from rehearsal.gcp_provider.resources.resource_policy import ResourcePolicy
from rehearsal.gcp_provider.resources.router import Router
from rehearsal.gcp_provider.resources.router_nat import RouterNat
from rehearsal.gcp_provider.resources.service import Service
from rehearsal.gcp_provider.resources.service_account import Account
from rehearsal.gcp_provider.resources.subnetwork import Subnetwork
from rehearsal.gcp_provider.terraform.kind import ResourceKind

KINDS: dict[str, ResourceKind] = {
    kind.token: kind
    for kind in (
        Service(),
        Network(),
        Subnetwork(),
        Router(),
        RouterNat(),
        Firewall(),
        ResourcePolicy(),
        Account(),
        ServiceAccountMember(),
        ProjectMember(),
        Bucket(),
        BucketMember(),
        Dashboard(),
        Cluster(),
        NodePool(),
    )
}
