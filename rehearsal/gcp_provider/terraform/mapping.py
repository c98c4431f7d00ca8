"""Between a program's properties and Google's JSON, both ways, by a kind's table of rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.gcp_provider.terraform.package import Property, PropertyKind, properties
from rehearsal.gcp_provider.terraform.rules import PLAIN, FieldRule, FieldRules, is_zero
from rehearsal.gcp_provider.wire import UNKNOWN

DEFAULTS = "__defaults"
"""Where the bridge keeps, in every object of the inputs, which properties it filled in by itself."""
_ZEROS: dict[str, Any] = {"str": "", "bool": False, "int": 0, "float": 0, "list": [], "map": {}}


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def look(value: Any, path: str) -> Any:
    """`a.b` of nested mappings; None where there is none."""
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def put(target: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    for name in parents:
        target = target.setdefault(name, {})
    if isinstance(value, Mapping) and isinstance(target.get(last), dict):
        target[last].update(value)
    else:
        target[last] = value


def expand(
    types: Mapping[str, Property], values: Mapping[str, Any], table: FieldRules, path: str = ""
) -> dict[str, Any]:
    """What to send. As Go's JSON does, leaves out zeros, unless the table says that they matter."""
    result: dict[str, Any] = {}
    for name, value in values.items():
        rule = table.get(join(path, name), PLAIN)
        if name not in types or rule.local or rule.output or value is None or value is UNKNOWN:
            continue
        sent = _sent(types[name].kind, value, rule, table, join(path, name))
        if rule.zero or not _left_out(sent):
            put(result, rule.api or name, sent)
    return result


def _left_out(value: Any) -> bool:
    """Go's `omitempty`: zero scalars and empty lists and maps, but not an object that has nothing to say."""
    return value in ("", 0, False) or value == [] or value is None


def _sent(kind: PropertyKind, value: Any, rule: FieldRule, table: FieldRules, path: str) -> Any:
    if kind.base == "object":
        return expand(properties(_class(kind)), value, table, path)
    if kind.of_objects and kind.base == "list":
        entries = [expand(properties(_class(kind.item)), entry, table, path) for entry in value]
        return (entries[0] if entries else None) if rule.single else entries
    if kind.base == "map":
        return {key: entry for key, entry in value.items() if key != DEFAULTS}
    return value


def flatten(
    types: Mapping[str, Property], rest: Mapping[str, Any], table: FieldRules, path: str = ""
) -> dict[str, Any]:
    """What Google says, as properties. What it leaves out is zero; an object that it leaves out is none."""
    result: dict[str, Any] = {}
    for name, prop in types.items():
        rule = table.get(join(path, name), PLAIN)
        if rule.local or rule.write_only or rule.unsupported:
            continue
        value = _read(prop.kind, look(rest, rule.api or name), rule, table, join(path, name))
        if value is not None:
            result[name] = value
    return result


def _read(kind: PropertyKind, value: Any, rule: FieldRule, table: FieldRules, path: str) -> Any:
    if kind.base == "object":
        return None if value is None else flatten(properties(_class(kind)), value, table, path)
    if value is None:
        zero = _ZEROS.get(kind.base)
        return list(zero) if isinstance(zero, list) else dict(zero) if isinstance(zero, dict) else zero
    if kind.of_objects and kind.base == "list":
        entries = [value] if rule.single else value
        return [flatten(properties(_class(kind.item)), entry, table, path) for entry in entries]
    return _scalar(kind, value)


def _scalar(kind: PropertyKind, value: Any) -> Any:
    """Google writes 64-bit integers as strings."""
    if kind.base == "int" and isinstance(value, str):
        return int(value)
    if kind.base == "str" and not isinstance(value, str):
        return str(value)
    return value


def _class(kind: PropertyKind | None) -> type:
    if kind is None or kind.cls is None:
        raise TypeError(f"{kind} is no object")
    return kind.cls


def kept(types: Mapping[str, Property], inputs: Mapping[str, Any], table: FieldRules) -> dict[str, Any]:
    """What Google does not tell and the program does."""
    rules = {name: table.get(name, PLAIN) for name in types}
    return {
        name: inputs.get(name, rule.default)
        for name, rule in rules.items()
        if (rule.local or rule.write_only) and inputs.get(name, rule.default) is not None
    }


def inputs_from(
    old: Mapping[str, Any], outputs: Mapping[str, Any], types: Mapping[str, Property], table: FieldRules, path: str = ""
) -> dict[str, Any]:
    """The inputs a refresh finds: those the program stated, with the values that stand now.

    Another form of the same value, a link where a name was stated, is no news.
    """
    result: dict[str, Any] = {}
    for name, value in old.items():
        if name == DEFAULTS:
            result[name] = value
        elif name in types and name in outputs and not (is_zero(outputs[name]) and not is_zero(value)):
            suppress = table.get(join(path, name), PLAIN).suppress
            same = suppress is not None and suppress(outputs[name], value)
            result[name] = (
                value if same else _as_stated(value, outputs[name], types[name].kind, table, join(path, name))
            )
    return result


def _as_stated(stated: Any, found: Any, kind: PropertyKind, table: FieldRules, path: str) -> Any:
    """Only those parts of an object that were stated."""
    if kind.base == "object" and isinstance(stated, Mapping) and isinstance(found, Mapping):
        return inputs_from(stated, found, properties(_class(kind)), table, path)
    if kind.base == "list" and kind.of_objects and isinstance(stated, list) and len(stated) == len(found):
        types = properties(_class(kind.item))
        return [inputs_from(one, other, types, table, path) for one, other in zip(stated, found, strict=True)]
    return found


def imported(types: Mapping[str, Property], outputs: Mapping[str, Any], table: FieldRules) -> dict[str, Any]:
    """The inputs of a resource that the program is about to adopt: what it would have to state to get it."""
    result: dict[str, Any] = {DEFAULTS: []}
    for name, prop in types.items():
        rule, value = table.get(name, PLAIN), outputs.get(name)
        if rule.output or (value == rule.default and not prop.required):
            continue
        # A zero says nothing, unless not saying it means something else: a network with `autoCreateSubnetworks: false`.
        if is_zero(value) and not (rule.default and isinstance(value, bool | int)):
            continue
        result[name] = value
    return result
