"""The JSON schema of a whole stack file, made from the model: completion, descriptions and errors while one types.

It tells what can be told of one value, or of a machine type and its topology. What depends on more is checked by the rules
(`make preview`): a file that passes here may still have faults there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from settings.catalogue.accelerators import MACHINE_TYPES, MachineType
from settings.catalogue.availability import OFFERS
from settings.catalogue.capacity import CAPACITIES
from settings.catalogue.labels import NAMESPACE
from settings.schema.field_types import Rule
from settings.schema.stack import PricesSection, Settings, SliceSection

PATH = "schema/stack.schema.json"
HEAD = f"# yaml-language-server: $schema={PATH}\n"
"""The first line of a stack file: where the editors' language server finds the schema."""
_ENGINES = {
    "secretsprovider": "What encrypts the stack's secrets: a key service's key, like gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K.",
    "encryptedkey": "The stack's data key, encrypted by that service. The engine writes it.",
    "encryptionsalt": "The salt of the stack's passphrase. The engine writes it.",
}
"""Keys of a stack file beside `config` that are the engine's (pulumi.com/docs/iac/concepts/projects/stack-settings-file)."""


class _Generator(GenerateJsonSchema):
    """Pydantic's, with the rules for text that are validators of our own, and without titles."""

    def function_after_schema(self, schema: core_schema.AfterValidatorFunctionSchema) -> JsonSchemaValue:
        made, rule = super().function_after_schema(schema), schema["function"]["function"]
        if isinstance(rule, Rule):
            made |= {"description": rule.text, "examples": [rule.like]}
            made |= {"pattern": f"^({rule.pattern})$"} if rule.pattern is not None else {}
            made |= {"maxLength": rule.limit} if rule.limit is not None else {}
        return made

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Pydantic lets keys of any other form pass."""
        made = super().dict_schema(schema)
        return {**made, "additionalProperties": False} if "patternProperties" in made else made

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def stack_schema(project: Mapping[str, Any]) -> dict[str, Any]:
    """The schema. `project` is the content of Pulumi.yaml, which describes the top-level keys."""
    model = Settings.model_json_schema(by_alias=True, schema_generator=_Generator)
    sections = {name: _untitled(section) for name, section in model["$defs"].items()}
    _add_catalogue(sections[SliceSection.__name__])
    _add_kinds(sections[PricesSection.__name__])
    described = {
        key: _described(schema, project["config"][key]["description"]) for key, schema in model["properties"].items()
    }
    described["tpuZones"]["propertyNames"] = {"enum": sorted({row.family for row in MACHINE_TYPES.values()})}
    described["tpuCapacity"]["propertyNames"] = {"enum": list(OFFERS)}
    config = {
        "type": "object",
        "properties": {f"{NAMESPACE}:{key}": schema for key, schema in described.items()},
        "required": [f"{NAMESPACE}:{key}" for key in model["required"]],
        # Keys of the engine and of providers have their own prefix.
        "patternProperties": {f"^(?!{NAMESPACE}:)[^:]+:": {}},
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A stack file of {project['name']}",
        "type": "object",
        "properties": {
            "config": config,
            **{key: {"type": "string", "description": text} for key, text in _ENGINES.items()},
        },
        "required": ["config"],
        "additionalProperties": False,
        "$defs": sections,
    }


def with_head(text: str) -> str:
    """A stack file's text with the line that names the schema."""
    return text if text.startswith(HEAD) else HEAD + text


def _untitled(section: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if key != "title"}


def _described(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {**schema, "description": text.strip()}


def _add_catalogue(section: dict[str, Any]) -> None:
    """The machine types, and for each the topologies it makes."""
    section["properties"]["machineType"]["enum"] = list(MACHINE_TYPES)
    section["allOf"] = [
        {
            "if": {"properties": {"machineType": {"const": machine.name}}, "required": ["machineType"]},
            "then": {"properties": {"topology": _topology(machine)}},
        }
        for machine in MACHINE_TYPES.values()
    ]


def _topology(machine: MachineType) -> dict[str, Any]:
    """A list where it is short. The large three-dimensional ones are hundreds: by their form, with the smaller ones named."""
    named = [*machine.single_host, *machine.multi_host]
    if machine.max_cubes == 0:
        return {"enum": named}
    return {"anyOf": [{"enum": named}, {"pattern": "^[0-9]+x[0-9]+x[0-9]+$"}]}


def _add_kinds(section: dict[str, Any]) -> None:
    by_generation = section["properties"]["chipHour"]
    by_generation["propertyNames"] = {"enum": list(dict.fromkeys(row.generation for row in MACHINE_TYPES.values()))}
    by_generation["additionalProperties"]["propertyNames"] = {"enum": list(CAPACITIES)}
    by_generation["additionalProperties"]["additionalProperties"]["minimum"] = 0
