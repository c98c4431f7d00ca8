"""The engine's wire format: protobuf structs, with marks for values that are secret or not known yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from google.protobuf.struct_pb2 import Struct, Value

_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWN = frozenset(
    {
        _UNKNOWN_TEXT,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # bool
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)


class _Unknown:
    """A value that only a later step can tell."""

    def __repr__(self) -> str:
        return "UNKNOWN"

    def __deepcopy__(self, memo: Any) -> _Unknown:
        return self

    def __copy__(self) -> _Unknown:
        return self


UNKNOWN = _Unknown()


def has_unknown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(has_unknown(entry) for entry in value.values())
    if isinstance(value, list):
        return any(has_unknown(entry) for entry in value)
    return value is UNKNOWN


def decode(struct: Struct) -> tuple[dict[str, Any], set[str]]:
    """A struct as plain values, and which of its properties hold a secret anywhere inside."""
    values: dict[str, Any] = {}
    secrets: set[str] = set()
    for key, value in struct.fields.items():
        found: list[bool] = []
        values[key] = _plain(value, found)
        if found:
            secrets.add(key)
    return values, secrets


def _plain(value: Value, secrets: list[bool]) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _plain_struct(value.struct_value, secrets)
    if kind == "list_value":
        return [_plain(entry, secrets) for entry in value.list_value.values]
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    if kind == "string_value":
        return UNKNOWN if value.string_value in _UNKNOWN else value.string_value
    return value.bool_value if kind == "bool_value" else None


def _plain_struct(struct: Struct, secrets: list[bool]) -> Any:
    signature = struct.fields[_SIGNATURE].string_value if _SIGNATURE in struct.fields else ""
    if signature == _SECRET:
        secrets.append(True)
        return _plain(struct.fields["value"], secrets)
    if signature == _OUTPUT:
        if struct.fields["secret"].bool_value:
            secrets.append(True)
        return _plain(struct.fields["value"], secrets) if "value" in struct.fields else UNKNOWN
    return {key: _plain(entry, secrets) for key, entry in struct.fields.items()}


class Secret:
    """A value to be marked as secret on the way out."""

    def __init__(self, value: Any) -> None:
        self.value = value


def encode(values: Mapping[str, Any], secrets: Collection[str] = ()) -> Struct:
    struct = Struct()
    for key, value in values.items():
        if value is not None:
            struct.fields[key].CopyFrom(_value(Secret(value) if key in secrets else value))
    return struct


def _value(value: Any) -> Value:
    if isinstance(value, Secret):
        return Value(struct_value=encode({_SIGNATURE: _SECRET, "value": value.value}))
    if isinstance(value, Mapping):
        return Value(struct_value=encode(value))
    if isinstance(value, list | tuple):
        result = Value()
        result.list_value.values.extend(_value(entry) for entry in value)
        return result
    if value is UNKNOWN:
        return Value(string_value=_UNKNOWN_TEXT)
    if isinstance(value, bool):
        return Value(bool_value=value)
    if isinstance(value, int | float):
        return Value(number_value=value)
    return Value(null_value=0) if value is None else Value(string_value=str(value))
