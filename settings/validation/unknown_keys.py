"""Keys that nobody knows: what their writer meant, and with it which keys are not missing but misspelt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from settings.catalogue.labels import NAMESPACE
from settings.schema.stack import Settings, SliceSection
from settings.validation.messages import Location, key_path, keys_of, section_at, value_at
from settings.validation.problem import Problem, did_you_mean, nearest

_CAPACITY = {
    "spot": "spot",
    "preemptible": "spot",
    "flexStart": "flex-start",
    "queuedProvisioning": "queued",
    "queued": "queued",
}
_TOGETHER = "on TPUs queued provisioning exists only together with flex-start"
_ELSEWHERE = {
    "reservationAffinity": (("capacity", "reservation"), "write capacity: reservation and reservation: NAME"),
    "initialNodeCount": ((), "remove the key: the size follows from the topology, or from autoscaling"),
    "nodeCount": ((), "remove the key: the size follows from the topology (`nodes` may repeat it)"),
    "minNodeCount": (("autoscaling",), "write autoscaling: {min: 0}"),
    "maxNodeCount": (("autoscaling",), "write autoscaling: {min: 0}; the most follows from the topology"),
}
"""Keys of Google's own that users bring along to a slice: which keys here they stand for, and what to write."""

_PROVIDERS = frozenset(
    {
        "pulumi", "gcp", "google-native", "google-beta", "kubernetes", "aws", "aws-native", "azure", "azure-native",
        "azuread", "docker", "docker-build", "random", "tls", "command", "time", "std", "null", "local", "archive",
        "http", "github", "gitlab", "cloudflare", "datadog", "grafana", "vault", "esc", "auto-deploy", "pulumiservice",
    }
)  # fmt: skip
"""Prefixes that a stack file may have for others: Pulumi's own and those of common packages in its registry."""


@dataclass(frozen=True)
class Unknown:
    """The fault of a key, and the keys that it was meant to be: they are neither missing nor left at their default."""

    problem: Problem
    meant: tuple[Location, ...]


def unknown_key(loc: Location, values: Any) -> Unknown:
    """An unknown key at a location inside our values."""
    key, around = str(loc[-1]), value_at(values, loc[:-1])
    known, section = sorted(keys_of(section_at(loc))), section_at(loc)
    if section is SliceSection and key in (*_CAPACITY, *_ELSEWHERE):
        keys, fix = _googles(key, around)
    else:
        near = nearest(key, known)
        keys = (near,) if near is not None else ()
        fix = f"write {near}" if near is not None else "remove the key"
        if near in around:
            fix = f"remove the key: `{near}` is there already"
    problem = Problem(key_path(loc), around[key], f"a known key: {', '.join(known)}", fix)
    return Unknown(problem, tuple((*loc[:-1], name) for name in keys if name not in around))


def _googles(key: str, around: Mapping[str, Any]) -> tuple[tuple[str, ...], str]:
    if key in _ELSEWHERE:
        return _ELSEWHERE[key]
    asked = {name for name in _CAPACITY if name in around and around[name] not in (False, None, {"enabled": False})}
    kind, stated = _CAPACITY[key], around.get("capacity")
    queued = bool(asked & {"queuedProvisioning", "queued"})
    if kind == "flex-start" and queued:
        kind = "queued"
    because = f": {_TOGETHER}" if kind == "queued" else ""
    if key not in asked and not queued:
        return (), "remove the key"
    if stated is None:
        return ("capacity",), f"write capacity: {kind}{because}"
    if stated == kind:
        return (), f"remove the key: capacity: {stated} says it{because}"
    return (), f"remove the key, or write capacity: {kind} in place of {stated}: a pool has one kind of capacity"


def foreign_key(key: str, value: str, config: Mapping[str, str]) -> Unknown | None:
    """The fault of a key of the stack file without our prefix, unless it is another provider's."""
    prefix, colon, name = key.partition(":")
    if colon and prefix in _PROVIDERS:
        return None
    top, bare = keys_of(Settings), name if colon else key
    ours = not colon or nearest(prefix, [NAMESPACE]) is not None or bare in top
    meant = (bare if bare in top else nearest(bare, top)) if ours else None
    if meant is None:
        return Unknown(_foreign(key, value, _other(prefix) if colon else "remove the key"), ())
    if f"{NAMESPACE}:{meant}" in config:
        return Unknown(_foreign(key, value, f"remove the key: {NAMESPACE}:{meant} is there already"), ())
    return Unknown(_foreign(key, value, f"write {NAMESPACE}:{meant}"), ((meant,),))


def _other(prefix: str) -> str:
    return did_you_mean(prefix, sorted(_PROVIDERS), "remove the key").replace("write ", "write the prefix ")


def _foreign(key: str, value: str, fix: str) -> Problem:
    expected = f"a key that begins with `{NAMESPACE}:`, or with the name of a provider"
    return Problem(key, value, expected, fix, prefix="")
