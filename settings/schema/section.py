"""The base class of all sections of a stack file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


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
