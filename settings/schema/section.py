"""What all sections of a stack file have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from settings.validation.problem import Unsound


class Section(BaseModel):
    """Base of all sections: camelCase keys as everywhere in Pulumi's YAML, frozen, strict, no unknown keys."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        serialize_by_alias=True,
        arbitrary_types_allowed=True,
        use_attribute_docstrings=True,
    )

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """A key of a draft that is missing or broken (`parse.py`) has no value."""
            if name in type(self).model_fields:
                raise Unsound(name)
            return super().__getattr__(name)
