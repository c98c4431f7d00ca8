"""What the installed `pulumi_gcp` package says of its own resources: property names, their types, which are required."""

from __future__ import annotations

import importlib
import inspect
import threading
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from pulumi import _types as pulumi_types


@dataclass(frozen=True)
class PropertyKind:
    """A type: `str`, `int`, `float`, `bool`, `any`; `list` and `map` of `item`; `object` with the properties of `cls`."""

    base: str
    item: PropertyKind | None = None
    cls: type | None = None

    @property
    def of_objects(self) -> bool:
        return self.item is not None and self.item.base == "object"


@dataclass(frozen=True)
class Property:
    kind: PropertyKind
    required: bool


@dataclass(frozen=True)
class ResourceTypes:
    inputs: Mapping[str, Property]
    outputs: Mapping[str, Property]
    """Everything that a state of the resource may hold, inputs among it."""


@cache
def properties(cls: type) -> Mapping[str, Property]:
    """The properties of an input type of the package, by the name they have on the wire."""
    names = pulumi_types.input_type_py_to_pulumi_names(cls)
    types = pulumi_types.input_type_types(cls)
    parameters = inspect.signature(cls.__init__).parameters  # type: ignore[misc]
    return {
        wire: Property(_kind(types[wire]), parameters[python].default is inspect.Parameter.empty)
        for python, wire in names.items()
    }


_IMPORTING = threading.RLock()
"""Python shows a module to other threads before it is complete; the engine asks for many resources at once."""


def resource_types(token: str) -> ResourceTypes:
    """`gcp:container/nodePool:NodePool` -> the types of its arguments and of its state."""
    with _IMPORTING:
        return _resource_types(token)


@cache
def _resource_types(token: str) -> ResourceTypes:
    package, path, name = token.split(":")
    module_name = path.split("/")[0]
    module = importlib.import_module(f"pulumi_{package}.{module_name}")
    arguments = getattr(module, f"{name}Args")
    state = getattr(importlib.import_module(arguments.__module__), f"_{name}State")
    return ResourceTypes(properties(arguments), properties(state))


@cache
def has_resource(token: str) -> bool:
    """Whether the package has that resource, supported here or not."""
    try:
        resource_types(token)
    except (ImportError, AttributeError, ValueError):
        return False
    return True


def _kind(annotation: Any) -> PropertyKind:
    annotation = _unwrapped(annotation)
    if pulumi_types.is_input_type(annotation) if isinstance(annotation, type) else False:
        return PropertyKind("object", cls=annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is not None and isinstance(origin, type):
        if issubclass(origin, Mapping):
            return PropertyKind("map", _kind(arguments[1]))
        if issubclass(origin, Sequence):
            return PropertyKind("list", _kind(arguments[0]))
    names = {str: "str", int: "int", float: "float", bool: "bool"}
    return PropertyKind(names.get(annotation, "any"))


def _unwrapped(annotation: Any) -> Any:
    """`Union[T, Awaitable[T], Output[T]]`, the package's `Input[T]`, as T."""
    while typing.get_origin(annotation) is typing.Union or type(annotation).__name__ == "UnionType":
        candidates = [entry for entry in typing.get_args(annotation) if entry is not type(None)]
        plain = [entry for entry in candidates if not _is_wrapper(entry)]
        annotation = plain[0] if plain else candidates[0]
    return annotation


def _is_wrapper(annotation: Any) -> bool:
    origin = typing.get_origin(annotation)
    return getattr(origin if origin is not None else annotation, "__name__", "") in ("Awaitable", "Output")
