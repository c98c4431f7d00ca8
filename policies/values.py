"""Reading properties that may be missing, or not known before `up`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi_policy import proxy

SENTINELS = frozenset(value for name, value in vars(proxy).items() if name.startswith("UNKNOWN_"))
"""What the engine writes, in a preview and to a policy pack, in place of a value that is not known yet."""
UNKNOWN: str = proxy.UNKNOWN_STRING_VALUE
_SECRET, _PLAINTEXT = "4dabf18193072939515e22adb298388d", "plaintext"
"""The key by which the engine marks a secret, and where its value is if it is shown at all."""


def unknown(value: Any) -> bool:
    return isinstance(value, str) and value in SENTINELS


def at(value: Any, *path: str) -> Any:
    """What is at a path of keys: None where a part is missing, UNKNOWN where a part of the path is not known."""
    for key in path:
        if unknown(value):
            return UNKNOWN
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return UNKNOWN if unknown(value) else value


def items(value: Any) -> list[Any]:
    """The elements of a list; of anything else none."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def plain(value: Any) -> Any:
    """Plain dicts and lists of what the policy SDK hands over, which raises an error at each value that is not known."""
    if isinstance(value, Mapping):
        if _SECRET in value:
            return value.get(_PLAINTEXT, UNKNOWN)
        return {key: _element(value, key) for key in value}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_element(value, index) for index in range(len(value))]
    return value


def _element(value: Any, key: Any) -> Any:
    try:
        return plain(value[key])
    except proxy.UnknownValueError:
        return UNKNOWN
