"""What stands on a resource: Google refuses to delete a thing that is in use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rehearsal.gcp.compute.kinds import path_of
from rehearsal.gcp.core import ApiError, CloudState, Object


def in_use(kind: str, resource: str, user: str) -> ApiError:
    """The refusal to delete what something else stands on."""
    return ApiError(
        400,
        f"The {kind} resource '{resource}' is already being used by '{user}'",
        reason="resourceInUseByAnotherResource",
    )


def refuse_if_used(plural: str, world: CloudState, path: str, resource: Object) -> None:
    """Raises ApiError when something stands on a resource that is to go."""
    user = next(_users(plural, world, path, resource["selfLink"]), None)
    if user is not None:
        singular = {"resourcePolicies": "resource_policy", "addresses": "address"}.get(plural, plural.removesuffix("s"))
        raise in_use(singular, path, user)


def range_users(world: CloudState, subnetwork: str, range_name: str) -> None:
    """Raises ApiError when a cluster or pool has its pods or services in that secondary range."""
    clusters = [(name, world.store.get("clusters", name) or {}) for name in world.store.names("clusters")]
    for name, cluster in clusters:
        policy, place = cluster.get("ipAllocationPolicy", {}), cluster.get("networkConfig", {}).get("subnetwork")
        used = {policy.get("clusterSecondaryRangeName"), policy.get("servicesSecondaryRangeName")}
        used |= {pool.get("networkConfig", {}).get("podRange") for pool in world.store.list("pools", f"{name}/")}
        if place == subnetwork and range_name in used:
            raise in_use("subnetwork", f"{subnetwork}/{range_name}", name)


def _users(plural: str, world: CloudState, path: str, self_link: str) -> Iterator[str]:
    if plural == "networks":
        for kind in ("subnetworks", "firewalls", "routers", "routes"):
            for user in world.store.list(f"compute-{kind}"):
                if user.get("network") == self_link and not user.get("_automatic"):
                    yield path_of(user["selfLink"])
        yield from _clusters(world, "network", path)
    if plural == "subnetworks":
        yield from _clusters(world, "subnetwork", path)
    if plural == "resourcePolicies":
        yield from _pools(world, path)
    if plural in ("subnetworks", "addresses"):
        yield from gateways(world, self_link)
    if plural == "subnetworks":
        yield from (
            path_of(a["selfLink"]) for a in world.store.list("compute-addresses") if a.get("subnetwork") == self_link
        )


def _clusters(world: CloudState, field: str, path: str) -> Iterator[str]:
    for name in world.store.names("clusters"):
        if (world.store.get("clusters", name) or {}).get("networkConfig", {}).get(field) == path:
            yield name


def _pools(world: CloudState, path: str) -> Iterator[str]:
    """The pools whose machines a policy places; pools name it by its path or alone, in the region of their cluster."""
    _, project, _, region, _, policy = path.split("/")
    for name in world.store.names("pools", f"projects/{project}/locations/{region}"):
        named = (world.store.get("pools", name) or {}).get("placementPolicy", {}).get("policyName", "")
        location = name.split("/")[3]
        if named.rsplit("/", 1)[-1] == policy and re.fullmatch(rf"{region}(-[a-z])?", location):
            yield name


def gateways(world: CloudState, self_link: str) -> Iterator[str]:
    for router in world.store.list("compute-routers"):
        for nat in router.get("nats", []):
            if self_link in nat.get("natIps", []) or self_link in [row["name"] for row in nat.get("subnetworks", [])]:
                yield path_of(router["selfLink"])
