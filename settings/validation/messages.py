"""Pydantic's errors in our words: what stands there, the rule it breaks, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast, get_args, get_origin

from annotated_types import Ge, Le
from pydantic import AfterValidator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from settings.catalogue.labels import NAMESPACE
from settings.schema.field_types import Rule, in_yaml
from settings.schema.section import Section
from settings.schema.stack import Settings
from settings.validation.problem import MISSING, Problem, nearest

Location = tuple[int | str, ...]
"""Where a value is: ('slices', 0, 'topology')."""

_WANTED = {
    "string_type": "text",
    "string_unicode": "text without halves of characters",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a map of keys to values",
    "model_type": "a map of keys to values",
    "string_too_short": "text that is not empty",
    "too_short": "at least one entry",
}
_EXAMPLES = {"topology": "2x4", "machineType": "ct5lp-hightpu-4t"}
"""Texts that are checked by the catalogue and have no rule of their own."""
_NEEDED = ("pools",)
"""Keys that a rule asks for where they are left out (`mode_rules.py`)."""


def problem_of(detail: ErrorDetails) -> Problem:
    """The fault of one error, except for keys that are not known (`unknown.py`)."""
    loc, kind, got = detail["loc"], detail["type"], detail["input"]
    path, field = key_path(loc), field_at(loc)
    if kind == "missing":
        return Problem(path, MISSING, "a value: this key must be set", _add(loc, field))
    if kind == "value_error":
        rule: Rule = detail["ctx"]["error"].rule
        return Problem(path, got, rule.text, rule.remedy(str(got)))
    expected = _wanted(detail, field)
    if got is None:
        return Problem(path, None, expected, _for_nothing(loc, field))
    return Problem(path, got, expected, _REMEDIES.get(kind, _any)(got, detail, field))


def text_problem(name: str, text: str) -> Problem:
    """The fault of a top-level key whose text is no value of its type: Pulumi hands over text that is not in quotes in YAML as
    it hands over text that is."""
    field = field_at((name,))
    detail: dict[str, Any] = {"loc": (name,), "type": "model_type"}
    if field is not None and field.annotation is bool:
        return Problem(name, text, _WANTED["bool_type"], _boolean(text, cast(ErrorDetails, detail), field))
    if field is not None and get_origin(field.annotation) is list:
        return Problem(name, text, "a list", "put `- ` before each entry")
    return Problem(name, text, _WANTED["model_type"], _map(text, cast(ErrorDetails, detail), field))


def _add(loc: Sequence[int | str], field: FieldInfo | None) -> str:
    like = _like(loc, field)
    is_text = field is not None and field.annotation is str
    example = f", like {in_yaml(like)}" if like is not None and is_text else ""
    return f"add `{NAMESPACE}:{loc[-1]}` below `config:`{example}" if len(loc) == 1 else f"add `{loc[-1]}`{example}"


def _wanted(detail: ErrorDetails, field: FieldInfo | None) -> str:
    kind = detail["type"]
    if kind == "literal_error":
        return f"one of {', '.join(_choices(field))}"
    if kind in ("greater_than_equal", "less_than_equal") or (kind == "int_type" and _bounds(field) != (None, None)):
        return _range(*_bounds(field))
    if kind == "list_type" and isinstance(detail["loc"][-1], str) and field is not None:
        return "a list of maps, each with its keys" if section_of(field.annotation) is not None else "a list"
    return _WANTED.get(kind, detail["msg"][0].lower() + detail["msg"][1:])


def _range(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return f"a whole number from {least} to {most}"
    return f"a whole number of at least {least}" if least is not None else f"a whole number of at most {most}"


def _for_nothing(loc: Sequence[int | str], field: FieldInfo | None) -> str:
    if isinstance(loc[-1], int):
        return "remove the entry, or write its value"
    if loc[-1] not in _NEEDED and (field is None or not field.is_required()):
        return "write a value, or remove the key: it has a default"
    return "write its value: this key has no default"


def _text(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    """YAML makes numbers and booleans of what is not in quotes."""
    like = _like(detail["loc"], field)
    written = str(got).lower() if isinstance(got, bool | int | float) else None
    rule = _rule_of(field)
    if written is None or detail["loc"][-1] in _EXAMPLES or (rule is not None and not rule.accepts(written)):
        return f"write text like {in_yaml(like)}" if like is not None else "write text"
    if isinstance(got, bool):
        return f"put it in quotes, as YAML reads true, yes and on, or false, no and off, as one of two: '{written}'"
    zero = isinstance(got, float) and re.fullmatch(r"[0-9]+\.[0-9]", written) is not None
    also = f" (or '{written}0' if that is what you wrote: YAML drops the zero)" if zero else ""
    return f"put it in quotes, as YAML reads it as a number: '{written}'{also}"


def _like(loc: Sequence[int | str], field: FieldInfo | None) -> str | None:
    """A text that a key takes."""
    rule = _rule_of(field)
    return _EXAMPLES.get(str(loc[-1]), rule.like if rule is not None else None)


def _number(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    if isinstance(got, str) and re.fullmatch(r"-?[0-9]{1,9}", got.strip()):
        return f"write {int(got)}, without quotes"
    if isinstance(got, float):
        return f"write {int(got)}" if got.is_integer() and abs(got) < 1e9 else "write a whole number"
    least, most = _bounds(field)
    return f"write a number like {least if least is not None else most if most is not None else 1}"


def _decimal(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    if isinstance(got, str) and re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", got.strip()):
        return f"write {got.strip()}, without quotes"
    return "write a number like 1.2"


def _boolean(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    if isinstance(got, str) and got.strip().lower() in ("true", "yes", "on", "false", "no", "off"):
        return f"write {str(got.strip().lower() in ('true', 'yes', 'on')).lower()}, without quotes"
    return "write true or false"


def _list(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    if isinstance(got, str) and got.isprintable() and got:
        return f"write [{got}]"
    return "put `- ` before each entry"


def _map(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    section = section_of(field.annotation) if field is not None else None
    if section is None:
        return "write keys with their values below it"
    if detail["type"] == "dict_type":
        return f"write names below it, each with its keys, of {', '.join(keys_of(section))}"
    return f"write its keys below it, of {', '.join(keys_of(section))}"


def _choice(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    choices = _choices(field)
    if isinstance(got, list) and any(choice in got for choice in choices):
        first, *others = (entry for entry in got if entry in choices)
        further = f", and for {', '.join(others)} an entry in slices of its own"
        return f"write {first}{further if others and detail['loc'][-1] == 'capacity' else ', without brackets'}"
    near = nearest(got, choices) if isinstance(got, str) else None
    return f"write {near if near is not None else choices[0]}"


def _bound(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    least, most = _bounds(field)
    return f"write {least} or more" if detail["type"] == "greater_than_equal" else f"write {most} or less"


def _few(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    return "write at least one" if field is None or field.is_required() else "write at least one, or remove the key"


def _any(got: Any, detail: ErrorDetails, field: FieldInfo | None) -> str:
    return f"write {_wanted(detail, field)}"


_REMEDIES: dict[str, Callable[[Any, ErrorDetails, FieldInfo | None], str]] = {
    "string_type": _text,
    "string_unicode": lambda *_: "remove what begins with \\ud",
    "int_type": _number,
    "float_type": _decimal,
    "bool_type": _boolean,
    "list_type": _list,
    "dict_type": _map,
    "model_type": _map,
    "literal_error": _choice,
    "greater_than_equal": _bound,
    "less_than_equal": _bound,
    "string_too_short": _few,
    "too_short": _few,
}


def field_at(loc: Sequence[int | str]) -> FieldInfo | None:
    """The field that a location is in: of an entry of a list or a map, the field of the list or map."""
    model: type[Section] | None = Settings
    field, in_map = None, False
    for part in loc:
        if isinstance(part, int) or model is None:
            continue
        if in_map:
            in_map = False
            continue
        field = next((field for name, field in model.model_fields.items() if field.alias == part), None)
        model = section_of(field.annotation) if field is not None else None
        in_map = field is not None and is_map(field.annotation)
    return field


def section_at(loc: Sequence[int | str]) -> type[Section]:
    """The section that a location names a key of."""
    field = field_at(loc[:-1])
    section = section_of(field.annotation) if field is not None else None
    return section if section is not None else Settings


def keys_of(section: type[Section]) -> list[str]:
    """A section's keys as a user writes them."""
    return [field.alias if field.alias is not None else name for name, field in section.model_fields.items()]


def is_map(annotation: Any) -> bool:
    """Whether a value has keys of the user's own: `dict[str, Section]`."""
    return get_origin(annotation) is dict


def section_of(annotation: Any) -> type[Section] | None:
    """The section inside `Section`, `list[Section]` or `Section | None`, or None."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    inner = (section_of(argument) for argument in get_args(annotation))
    return next((section for section in inner if section is not None), None)


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for argument in get_args(annotation):
        yield from _parts(argument)


def _rule_of(field: FieldInfo | None) -> Rule | None:
    """The rule of a field's text, or of the texts in its list."""
    if field is None:
        return None
    found = [part for part in (*field.metadata, *_parts(field.annotation)) if isinstance(part, AfterValidator)]
    return found[-1].func if found and isinstance(found[-1].func, Rule) else None


def _choices(field: FieldInfo | None) -> list[str]:
    return [part for part in _parts(field.annotation) if isinstance(part, str)] if field is not None else []


def _bounds(field: FieldInfo | None) -> tuple[int | None, int | None]:
    metadata = field.metadata if field is not None else []
    least = next((part.ge for part in metadata if isinstance(part, Ge)), None)
    most = next((part.le for part in metadata if isinstance(part, Le)), None)
    return least, most  # type: ignore[return-value]


def key_path(loc: Sequence[int | str]) -> str:
    """('slices', 0, 'topology') -> slices[0].topology."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part != "[key]":
            path += f".{part}" if path else str(part)
    return path


def value_at(values: Any, loc: Sequence[int | str]) -> Any:
    """What stands at a location."""
    for part in loc:
        values = values[part]
    return values
