"""The network section of a stack file."""

from __future__ import annotations

from pydantic import Field

from settings.schema.field_types import Cidr
from settings.schema.section import Section


class ExistingNetwork(Section):
    """A network that already exists, by names as Google's API takes them."""

    network: str = Field(min_length=1)
    subnetwork: str = Field(min_length=1)
    pods_range: str = Field(min_length=1)
    services_range: str = Field(min_length=1)
    firewall: bool = True
    """False if the network's owner opens the webhook ports (README lists them) and this stack may not."""


class NetworkSection(Section):
    nodes_cidr: Cidr = "10.128.0.0/16"
    pods_cidr: Cidr = "10.64.0.0/16"
    services_cidr: Cidr = "10.32.0.0/20"
    control_plane_cidr: Cidr = "172.16.0.0/28"
    existing: ExistingNetwork | None = None
