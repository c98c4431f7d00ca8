"""How the Terraform provider treats a field. One table of these per resource kind is most of what a kind is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

Suppress = Callable[[Any, Any], bool]
"""(value in state, wanted value) -> whether the difference is none."""


@dataclass(frozen=True)
class FieldRule:
    force: bool = False
    """A change replaces the resource (ForceNew)."""
    computed: bool = False
    """Not stated, what Google has stands (Optional and Computed), and is no difference."""
    output: bool = False
    """Read back only (Computed): a program's value of it is never sent."""
    unordered: bool = False
    """A list whose order means nothing (TypeSet)."""
    single: bool = False
    """A list in Pulumi, one object at Google."""
    local: bool = False
    """Known to the provider only: never sent, never read; what the program says stands."""
    write_only: bool = False
    """Sent, but not read back: what the program said stands."""
    zero: bool = False
    """Sent although it is zero, false or empty. Go's JSON leaves such values out otherwise."""
    secret: bool = False
    unsupported: bool = False
    """Known to the package, not supported by this provider: refused rather than ignored."""
    default: Any = None
    api: str = ""
    """Where it is at Google, relative to its parent: dotted. Empty: under the same name."""
    suppress: Suppress | None = None


PLAIN = FieldRule()
FieldRules = Mapping[str, FieldRule]
"""By dotted path in Pulumi's names; no indices: `nodeConfig.guestAccelerators.count`."""


class RuleFields(TypedDict, total=False):
    """The fields of `FieldRule`, as keyword arguments of `rules`."""

    force: bool
    computed: bool
    output: bool
    unordered: bool
    single: bool
    local: bool
    write_only: bool
    zero: bool
    secret: bool
    unsupported: bool
    default: Any
    api: str
    suppress: Suppress


def rules(*paths: str, **fields: Unpack[RuleFields]) -> dict[str, FieldRule]:
    """One rule for several fields: `rules("name", "project", force=True, computed=True)`."""
    return dict.fromkeys(paths, FieldRule(**fields))


def under(prefix: str, table: FieldRules, force: tuple[str, ...] = ()) -> dict[str, FieldRule]:
    """A table of fields as it applies inside another object; those named in `force` replace there."""
    return {
        f"{prefix}.{path}": replace(rule, force=True) if path.split(".")[0] in force else rule
        for path, rule in table.items()
    }


def last_segment(old: Any, new: Any) -> bool:
    """A self link and a name, or two forms of link, of one resource (CompareSelfLinkOrResourceName).

    Two names in full have to agree in all that both state: `projects/a/global/networks/n` is not b's.
    """
    if not isinstance(old, str) or not isinstance(new, str):
        return False
    if "/" not in old or "/" not in new:
        return old.rsplit("/", 1)[-1] == new.rsplit("/", 1)[-1]
    return relative(old) == relative(new)


def relative(link: str) -> str:
    """A link without the server: `https://www.googleapis.com/compute/v1/projects/p/...` -> `projects/p/...`."""
    start = link.find("projects/")
    return link[start:] if start >= 0 else link


def same_case(old: Any, new: Any) -> bool:
    return isinstance(old, str) and isinstance(new, str) and old.lower() == new.lower()


def empty_or(text: str) -> Suppress:
    """Google's word for `not stated`, and nothing stated, are one."""
    return lambda old, new: {old, new} <= {text, "", None}


def cidr_or_size(old: Any, new: Any) -> bool:
    """`/14` asks for a range of that size: any such range satisfies it."""
    return isinstance(old, str) and isinstance(new, str) and new.startswith("/") and old.endswith(new)


def is_zero(value: Any) -> bool:
    """Whether a value says nothing: Terraform's null, zero, false and empty are one thing for optional fields."""
    if isinstance(value, Mapping):
        return all(is_zero(entry) for entry in value.values())
    if isinstance(value, list):
        return not value or all(isinstance(entry, Mapping) and is_zero(entry) for entry in value)
    return value is None or value == "" or value is False or (isinstance(value, int | float) and value == 0)
