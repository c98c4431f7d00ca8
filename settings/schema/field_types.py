"""Names that the platforms below us accept, as types. Each rule says whose it is, and knows a value that it takes."""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from settings.catalogue import gke_version


class RuleError(ValueError):
    """Text breaks the rule of its key."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        super().__init__(rule.text)


def _as_name(value: str) -> Iterable[str]:
    small = value.strip().lower()
    yield small
    yield re.sub(r"[^a-z0-9]+", "-", small).strip("-")


@dataclass(frozen=True)
class Rule:
    """A rule for text: in words, with a value that it takes, and with the values that somebody may have meant."""

    text: str
    like: str
    accepts: Callable[[str], bool]
    limit: int | None = None
    """The most characters, where a long text is a name that can be shortened."""
    meant: Callable[[str], Iterable[str]] = _as_name
    pattern: str | None = None
    """The form of the text, as far as a regular expression tells it: for editors, which know no more."""

    def __call__(self, value: str) -> str:
        """Raises RuleError, which pydantic turns into an error of the key."""
        if not self.accepts(value):
            raise RuleError(self)
        return value

    def remedy(self, value: str) -> str:
        """What to write in place of a value that the rule refuses."""
        if not value.strip():
            return f"write a value, like {in_yaml(self.like)}"
        near = next((candidate for candidate in self.meant(value) if self.accepts(candidate)), None)
        if near is not None:
            return f"write {in_yaml(near)}"
        if self.limit is not None and len(value) > self.limit:
            only = "" if self.accepts(value[: self.limit]) else "; and see which characters it may have"
            return f"shorten it by {len(value) - self.limit}: it has {len(value)} characters{only}"
        return f"write something like {in_yaml(self.like)}"


def in_yaml(text: str) -> str:
    """Text as it must stand in a stack file: in quotes where YAML would make something else of it."""
    other = re.fullmatch(r"[-+]?[0-9][0-9._]*|0x[0-9a-f]+|true|false|yes|no|on|off|y|n|null|~|", text.lower())
    return f"'{text}'" if other is not None else text


def _name(
    pattern: str,
    limit: int,
    text: str,
    like: str,
    meant: Callable[[str], Iterable[str]] = _as_name,
) -> AfterValidator:
    compiled = re.compile(pattern)

    def accepts(value: str) -> bool:
        return len(value) <= limit and compiled.fullmatch(value) is not None

    return AfterValidator(Rule(text, like, accepts, limit if meant is _as_name else None, meant, pattern))


def _as_memory(value: str) -> Iterable[str]:
    """`4GB`, `4 g` -> 4Gi."""
    match = re.fullmatch(r"\s*([0-9]+)\s*([gm])i?b?\s*", value.lower())
    if match is not None:
        yield f"{match.group(1)}{match.group(2).upper()}i"


def _as_duration(value: str) -> Iterable[str]:
    """`15 min`, `1h30m`, `7d` in the largest unit that they are a whole number of."""
    parts = re.findall(r"([0-9]{1,7})\s*([smhd])[a-z]*", value.lower())
    if not parts or re.sub(r"([0-9]{1,7})\s*([smhd])[a-z]*|\s", "", value.lower()):
        return
    total = sum(int(count) * _UNITS[unit] for count, unit in parts)
    unit = next(unit for unit in "hms" if total % _UNITS[unit] == 0)
    yield f"{total // _UNITS[unit]}{unit}"


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_LABEL = r"[a-z]([-a-z0-9]*[a-z0-9])?"

_GKE = "1 to 40 characters of a-z, 0-9 and '-', first a letter, last no '-' (GKE's rule for clusters and pools)"

GkeName = Annotated[str, _name(_LABEL, 40, _GKE, "tpu-cluster")]
PoolName = Annotated[str, _name(_LABEL, 40, _GKE, "nodepool1")]
ObjectName = Annotated[
    str,
    _name(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?",
        63,
        "1 to 63 characters of a-z, 0-9 and '-', first and last no '-' (Kubernetes; it is also a label's value)",
        "team-a",
    ),
]
JobName = Annotated[
    str,
    _name(
        _LABEL,
        63,
        "1 to 63 characters of a-z, 0-9 and '-', first a letter, last no '-' (JobSet: the pods' host names are made of it)",
        "train-1",
    ),
]
RayJobName = Annotated[
    str,
    _name(
        _LABEL,
        47,
        "1 to 47 characters of a-z, 0-9 and '-', first a letter, last no '-' (KubeRay's rule: it adds 16 for its services)",
        "ray-train-1",
    ),
]
MachineName = Annotated[
    str,
    _name(r"[a-z0-9]+(-[a-z0-9]+)+", 63, "the name of a machine type of Compute Engine's", "e2-standard-4"),
]
Memory = Annotated[
    str, _name(r"[1-9][0-9]*[GM]i", 12, "an amount of memory like 4Gi or 512Mi, more than zero", "4Gi", _as_memory)
]
ProjectId = Annotated[
    str,
    _name(
        r"[a-z][-a-z0-9]{4,28}[a-z0-9]",
        30,
        "6 to 30 characters of a-z, 0-9 and '-', first a letter (a Google project id)",
        "my-project-id",
    ),
]
Location = Annotated[
    str,
    _name(r"[a-z]+-[a-z]+[0-9]+(-[a-z])?", 40, "a Google region like us-west4 or a zone like us-west4-a", "us-west4"),
]
Zone = Annotated[str, _name(r"[a-z]+-[a-z]+[0-9]+-[a-z]", 40, "a Google zone like us-west4-a", "us-west4-a")]
Duration = Annotated[
    str, _name(r"[1-9][0-9]*[smh]", 8, "a time like 90s, 15m or 2h, more than zero", "15m", _as_duration)
]
CurrencyCode = Annotated[
    str,
    _name(r"[A-Z]{3}", 3, "a currency by its three letters (ISO 4217)", "USD", lambda value: [value.strip().upper()]),
]
LabelKey = Annotated[
    str,
    _name(
        r"(?!goog-)[a-z][-_a-z0-9]*",
        63,
        "1 to 63 characters of a-z, 0-9, '-' and '_', first a letter, not `goog-`, which is Google's",
        "team",
    ),
]
LabelValue = Annotated[str, _name(r"[-_a-z0-9]*", 63, "at most 63 characters of a-z, 0-9, '-' and '_'", "team-a")]


CohortName = Annotated[
    str,
    _name(
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        253,
        "1 to 253 characters of a-z, 0-9, '-' and '.', each part between dots first and last no '-' (Kueue's rule for cohorts)",
        "teams",
    ),
]
BucketName = Annotated[
    str,
    _name(
        r"(?!goog)(?!.*g[o0]{2}gle)[a-z0-9][-_a-z0-9]{1,61}[a-z0-9]",
        63,
        "3 to 63 characters of a-z, 0-9, '-' and '_', first and last a letter or digit, not `goog` first, and without `google` "
        "or what looks like it (Cloud Storage; the name is nobody else's in the world)",
        "my-project-checkpoints",
    ),
]


def _is_cidr(value: str) -> bool:
    """Google takes neither a single address nor a net mask, which Python's parser does."""
    try:
        return str(ipaddress.IPv4Network(value)) == value
    except ValueError:
        return False


def _as_cidr(value: str) -> Iterable[str]:
    """The range that an address with a prefix is in."""
    if "/" not in value:
        return
    try:
        yield str(ipaddress.IPv4Network(value.strip(), strict=False))
    except ValueError:
        return


Cidr = Annotated[
    str,
    AfterValidator(
        Rule(
            "an IPv4 range like 10.0.0.0/16 (of one address: /32), with no bits set behind the prefix",
            "10.0.0.0/16",
            _is_cidr,
            meant=_as_cidr,
            pattern=r"[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}",
        )
    ),
]


def _as_version(value: str) -> Iterable[str]:
    yield value.strip().lstrip("v")


GkeVersion = Annotated[
    str,
    AfterValidator(
        Rule(
            "a GKE version like 1.34 or 1.34.1-gke.1829001",
            "1.34",
            lambda value: gke_version.parse(value) is not None,
            meant=_as_version,
            pattern=r"1\.[0-9]+(\.[0-9]+(-gke\.[0-9]+)?)?",
        )
    ),
]


def seconds(duration: str) -> int:
    """`90s`, `15m`, `2h` in seconds."""
    return int(duration[:-1]) * _UNITS[duration[-1]]


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
