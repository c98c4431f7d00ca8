"""From the text of a stack's configuration to typed settings, with every fault found on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from settings.faults import MISSING, NAMESPACE, Fault, did_you_mean
from settings.model import Section, Settings

_VALUE_ERRORS = frozenset(
    {
        "value_error",
        "literal_error",
        "extra_forbidden",
        "greater_than_equal",
        "less_than_equal",
        "string_pattern_mismatch",
        "string_too_short",
        "too_short",
    }
)
"""Pydantic's errors that leave the type of the value right."""

ELSEWHERE = {
    "spot": "write capacity: spot; one pool has one kind of capacity",
    "flexStart": "write capacity: flex-start, or capacity: queued for flex-start with queued provisioning",
    "queuedProvisioning": "write capacity: queued; on TPUs queued provisioning exists only together with flex-start",
    "queued": "write capacity: queued; on TPUs queued provisioning exists only together with flex-start",
    "reservationAffinity": "write capacity: reservation and reservation: NAME",
    "initialNodeCount": "leave it out: the size follows from the topology, or from autoscaling",
    "nodeCount": "leave it out: the size follows from the topology (`nodes` may repeat it)",
    "minNodeCount": "write autoscaling: {min: 0}",
    "maxNodeCount": "write autoscaling: {max: HOSTS}, or leave it out: it follows from the topology",
}
"""Keys of Google's own that users bring along to a slice, and what they are called here."""

_TEXT_KEYS = ("project", "location")
"""Top-level keys that are text. Pulumi hands over all values as text and everything else as JSON."""


@dataclass(frozen=True)
class Parsed:
    """What parsing gave: settings that are valid, or faults. With faults there may still be `draft` settings, good
    enough to look for more faults: every value has the right type, but not every value keeps its own rule."""

    faults: tuple[Fault, ...]
    settings: Settings | None = None
    draft: Settings | None = None


def parse(config: Mapping[str, str]) -> Parsed:
    """Reads Pulumi's flat configuration (`tpu-platform:key` -> text or JSON)."""
    values, faults = _decode(config)
    broken = {fault.path for fault in faults}
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        details = error.errors(include_url=False)
        found = [_fault(detail) for detail in details]
        shaped = not faults and all(detail["type"] in _VALUE_ERRORS for detail in details)
        draft = _draft(Settings, values) if shaped else None
        return Parsed((*faults, *(fault for fault in found if fault.path not in broken)), draft=draft)
    return Parsed(tuple(faults), settings=None if faults else settings)


def _draft(model: type[Section], values: Mapping[str, Any]) -> Any:
    """A section from values of the right types, without asking their rules."""
    known: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        alias = field.alias or name
        if alias not in values:
            continue
        value, section = values[alias], _section_of(field.annotation)
        if section is not None and isinstance(value, list):
            value = [_draft(section, entry) for entry in value]
        elif section is not None and value is not None:
            value = _draft(section, value)
        known[alias] = value
    return model.model_construct(**known)


def _decode(config: Mapping[str, str]) -> tuple[dict[str, Any], list[Fault]]:
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for key, text in config.items():
        namespace, _, name = key.partition(":")
        if namespace != NAMESPACE:
            continue
        if name in _TEXT_KEYS:
            values[name] = text
            continue
        try:
            values[name] = json.loads(text)
        except ValueError:
            values[name] = text
            if name in _top_level_keys():
                faults.append(
                    Fault(name, text, "a value of the type in Pulumi.yaml", "write it as YAML in the stack file")
                )
    return values, faults


def _top_level_keys() -> list[str]:
    return [field.alias or name for name, field in Settings.model_fields.items()]


def _fault(detail: ErrorDetails) -> Fault:
    """One of pydantic's errors in our words."""
    path = key_path(detail["loc"])
    kind = detail["type"]
    got = detail["input"]
    if kind == "missing":
        return Fault(path, MISSING, "a value: this key must be set", f"add `{detail['loc'][-1]}` to the stack file")
    if kind == "extra_forbidden":
        known, key = _siblings(detail["loc"]), str(detail["loc"][-1])
        remedy = ELSEWHERE.get(key) if "capacity" in known else None
        return Fault(
            path,
            got,
            f"a known key: {', '.join(known)}",
            remedy if remedy is not None else did_you_mean(key, known, "remove the key"),
        )
    wanted = _wanted(detail)
    return Fault(path, got, wanted, _remedy(kind, got, wanted, detail))


def _wanted(detail: ErrorDetails) -> str:
    context = detail.get("ctx", {})
    kind = detail["type"]
    if kind == "value_error":
        return str(context["error"])
    names = {
        "string_type": "text",
        "int_type": "a whole number",
        "bool_type": "true or false",
        "list_type": "a list",
        "dict_type": "a map of keys to values",
        "model_type": "a map of keys to values",
        "model_attributes_type": "a map of keys to values",
        "string_too_short": "text that is not empty",
        "too_short": "at least one entry",
    }
    return names.get(kind, detail["msg"][0].lower() + detail["msg"][1:])


def _remedy(kind: str, got: object, wanted: str, detail: ErrorDetails) -> str:
    if kind == "string_type" and isinstance(got, int | float) and not isinstance(got, bool):
        return f"put it in quotes, as YAML reads it as a number: '{got}'"
    if kind == "literal_error" and isinstance(got, str):
        choices = [choice.strip("' ") for choice in str(detail["ctx"]["expected"]).replace(" or ", ",").split(",")]
        upper = got.upper()
        return f"write {upper}" if upper in choices else did_you_mean(got, choices, f"write {choices[0]}")
    if kind == "value_error" and isinstance(got, str) and got != got.lower():
        return f"write {got.lower()}"
    if kind == "value_error" and isinstance(got, str) and got == "":
        return "give it a name, or leave the key out where it has a default"
    if kind == "value_error" and isinstance(got, str) and len(got) > 40:
        return f"shorten it: it has {len(got)} characters"
    return f"write {wanted}"


def _siblings(loc: Sequence[int | str]) -> list[str]:
    """The keys that are allowed where an unknown one was found."""
    model: Any = Settings
    for part in loc[:-1]:
        if isinstance(part, int):
            continue
        field = next(field for name, field in model.model_fields.items() if (field.alias or name) == part)
        model = _section_of(field.annotation)
    return sorted(field.alias or name for name, field in model.model_fields.items())


def _section_of(annotation: Any) -> Any:
    """The section inside `Section`, `list[Section]` or `Section | None`, or None."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    inner = (_section_of(argument) for argument in get_args(annotation))
    return next((section for section in inner if section is not None), None)


def key_path(loc: Sequence[int | str]) -> str:
    """('slices', 0, 'topology') -> slices[0].topology."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part != "[key]":
            path += f".{part}" if path else str(part)
    return path
