"""Names that the platforms below us accept, as types. Each rule says whose it is."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from typing import Annotated

from pydantic import AfterValidator


def _matching(pattern: str, limit: int, rule: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if len(value) > limit or compiled.fullmatch(value) is None:
            raise ValueError(rule)
        return value

    return AfterValidator(check)


_LABEL = r"[a-z]([-a-z0-9]*[a-z0-9])?"

GkeName = Annotated[
    str,
    _matching(
        _LABEL,
        40,
        "1 to 40 characters of a-z, 0-9 and '-', first a letter, last no '-' (GKE's rule for clusters and pools)",
    ),
]
ObjectName = Annotated[
    str,
    _matching(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?",
        63,
        "1 to 63 characters of a-z, 0-9 and '-', first and last no '-' (Kubernetes; it is also a label's value)",
    ),
]
JobName = Annotated[
    str,
    _matching(
        _LABEL,
        63,
        "characters of a-z, 0-9 and '-', first a letter, last no '-' (JobSet: the pods' host names are made of it)",
    ),
]
RayJobName = Annotated[
    str,
    _matching(
        _LABEL,
        47,
        "1 to 47 characters of a-z, 0-9 and '-', first a letter, last no '-' (KubeRay's rule: it adds 16 for its services)",
    ),
]
Memory = Annotated[str, _matching(r"[1-9][0-9]*[GM]i", 12, "an amount of memory like 4Gi or 512Mi")]
ProjectId = Annotated[
    str,
    _matching(
        r"[a-z][-a-z0-9]{4,28}[a-z0-9]",
        30,
        "6 to 30 characters of a-z, 0-9 and '-', first a letter (a Google project id)",
    ),
]
Location = Annotated[
    str, _matching(r"[a-z]+-[a-z]+[0-9]+(-[a-z])?", 40, "a Google region like us-west4 or a zone like us-west4-a")
]
Zone = Annotated[str, _matching(r"[a-z]+-[a-z]+[0-9]+-[a-z]", 40, "a Google zone like us-west4-a")]
Duration = Annotated[str, _matching(r"[1-9][0-9]*[smh]", 8, "a time like 90s, 15m or 2h, more than zero")]
LabelKey = Annotated[
    str, _matching(r"[a-z][-_a-z0-9]*", 63, "1 to 63 characters of a-z, 0-9, '-' and '_', first a letter")
]
LabelValue = Annotated[str, _matching(r"[-_a-z0-9]*", 63, "at most 63 characters of a-z, 0-9, '-' and '_'")]


def _cidr(value: str) -> str:
    try:
        network = ipaddress.ip_network(value)
    except ValueError as error:
        raise ValueError("an IPv4 range like 10.0.0.0/16, with no bits set behind the prefix") from error
    if network.version != 4:
        raise ValueError("an IPv4 range like 10.0.0.0/16")
    return value


Cidr = Annotated[str, AfterValidator(_cidr)]


def seconds(duration: str) -> int:
    """`90s`, `15m`, `2h` in seconds."""
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


def mebibytes(memory: str) -> int:
    """`4Gi` or `512Mi` in MiB."""
    return int(memory[:-2]) * {"Gi": 1024, "Mi": 1}[memory[-2:]]


def region_of(location: str) -> str:
    """The region of a region or of a zone."""
    return "-".join(location.split("-")[:2])


def is_zone(location: str) -> bool:
    return location.count("-") == 2


def shortened(name: str, limit: int) -> str:
    """`name`, or its beginning and a digest of all of it where Google's limit is shorter than the name."""
    if len(name) <= limit:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:6]
    return f"{name[: limit - 7].rstrip('-')}-{digest}"
