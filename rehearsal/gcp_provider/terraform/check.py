"""Check: whether a program's properties are ones the package knows, of the right types; and defaults, as the bridge sets them."""

from __future__ import annotations

import difflib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from rehearsal.gcp_provider.terraform.mapping import DEFAULTS, join
from rehearsal.gcp_provider.terraform.package import Property, PropertyKind, properties
from rehearsal.gcp_provider.terraform.rules import FieldRules
from rehearsal.gcp_provider.wire import UNKNOWN


@dataclass(frozen=True)
class FieldProblem:
    """What is wrong with one property, by its path: `nodeConfig.taints[0].effect`."""

    path: str
    reason: str


def unsupported(values: Any, table: FieldRules, path: str = "", rule_path: str = "") -> Iterator[FieldProblem]:
    """Properties of the package that this provider does not have."""
    if isinstance(values, list):
        for index, entry in enumerate(values):
            yield from unsupported(entry, table, f"{path}[{index}]", rule_path)
    elif isinstance(values, Mapping):
        for name, value in values.items():
            here = join(rule_path, name)
            if here in table and table[here].unsupported:
                yield FieldProblem(join(path, name), f"{name} is not supported by the rehearsal provider")
            else:
                yield from unsupported(value, table, join(path, name), here)


def failures(types: Mapping[str, Property], values: Mapping[str, Any], path: str = "") -> Iterator[FieldProblem]:
    """All that is wrong, deepest parts included. A value that is not known yet is not wrong."""
    for name, value in values.items():
        if name.startswith("__"):
            continue
        if name not in types:
            yield FieldProblem(join(path, name), _unexpected(name, types))
        elif value is not None:
            yield from _of_value(types[name].kind, value, join(path, name))
    for name, prop in types.items():
        if prop.required and values.get(name) is None:
            yield FieldProblem(
                join(path, name),
                f'Missing required argument: The argument "{name}" is required, but no definition was found.',
            )


def _unexpected(name: str, types: Mapping[str, Property]) -> str:
    near = difflib.get_close_matches(name, types, n=1, cutoff=0.6)
    hint = f' Did you mean "{near[0]}"?' if near else f" It has: {', '.join(sorted(types))}."
    return f'Invalid or unknown key: An argument named "{name}" is not expected here.{hint}'


def _of_value(kind: PropertyKind, value: Any, path: str) -> Iterator[FieldProblem]:
    if value is UNKNOWN:
        return
    if kind.base == "object" and isinstance(value, Mapping) and kind.cls is not None:
        yield from failures(properties(kind.cls), value, path)
    elif kind.base == "list" and isinstance(value, list) and kind.item is not None:
        for index, entry in enumerate(value):
            yield from _of_value(kind.item, entry, f"{path}[{index}]")
    elif kind.base == "map" and isinstance(value, Mapping) and kind.item is not None:
        for key, entry in value.items():
            if not key.startswith("__"):
                yield from _of_value(kind.item, entry, f"{path}.{key}")
    elif not _fits(kind, value):
        yield FieldProblem(path, f"expected {_ARTICLES.get(kind.base, kind.base)}, got {_described(value)}")


_ARTICLES = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "a boolean",
    "list": "a list",
    "map": "a map",
    "object": "an object",
}


def _described(value: Any) -> str:
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list) else f"{value!r}"


def _fits(kind: PropertyKind, value: Any) -> bool:
    """Terraform converts between scalars where that loses nothing: "3" is a number, 3 and true are strings."""
    if kind.base == "any":
        return True
    if isinstance(value, Mapping | list):
        return False
    if kind.base == "bool":
        return isinstance(value, bool) or value in ("true", "false")
    if kind.base in ("int", "float"):
        return not isinstance(value, bool) and _is_number(value, whole=kind.base == "int")
    return kind.base == "str"


def _is_number(value: Any, whole: bool) -> bool:
    try:
        number = float(value)
    except ValueError:
        return False
    return not whole or number.is_integer()


def converted(types: Mapping[str, Property], values: Mapping[str, Any]) -> dict[str, Any]:
    """Scalars in their own type, once checked."""
    return {
        name: _convert(types[name].kind, value) if name in types else value
        for name, value in values.items()
        if value is not None
    }


def _convert(kind: PropertyKind, value: Any) -> Any:
    if value is UNKNOWN:
        return value
    if kind.base == "object" and kind.cls is not None:
        return converted(properties(kind.cls), value)
    if kind.base == "list" and kind.item is not None:
        return [_convert(kind.item, entry) for entry in value]
    if kind.base == "map" and kind.item is not None:
        return {key: _convert(kind.item, entry) for key, entry in value.items() if entry is not None}
    if kind.base == "str" and not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if kind.base == "bool" and isinstance(value, str):
        return value == "true"
    if kind.base in ("int", "float") and isinstance(value, str):
        return int(float(value)) if float(value).is_integer() else float(value)
    return value


def with_defaults(
    types: Mapping[str, Property],
    values: Mapping[str, Any],
    table: FieldRules,
    path: str = "",
    without: Container[str] = (),
) -> dict[str, Any]:
    """The inputs with the schema's defaults, each object saying which were filled in. Properties in `without` get none: the
    bridge sets no default that conflicts with what the program states."""
    result: dict[str, Any] = {name: value for name, value in values.items() if name != DEFAULTS}
    filled = []
    for name, prop in types.items():
        rule = table.get(join(path, name))
        if name in result:
            result[name] = _inside(prop.kind, result[name], table, join(path, name))
        elif rule is not None and rule.default is not None and not rule.computed and name not in without:
            result[name] = rule.default
            filled.append(name)
    return {DEFAULTS: sorted(filled), **result}


def _inside(kind: PropertyKind, value: Any, table: FieldRules, path: str) -> Any:
    if kind.base == "object" and kind.cls is not None and isinstance(value, Mapping):
        return with_defaults(properties(kind.cls), value, table, path)
    if kind.base == "list" and kind.item is not None and isinstance(value, list):
        return [_inside(kind.item, entry, table, path) for entry in value]
    return value


def random_name(base: str, limit: int, seed: bytes) -> str:
    """The bridge's autoname: the resource's name, lower case, and seven random hex digits; the engine's seed makes a
    preview and the `up` after it agree."""
    digits = f"{Random(seed).getrandbits(28):07x}" if seed else f"{Random().getrandbits(28):07x}"
    return f"{base.lower()[: limit - 8]}-{digits}"
