"""The project's description of each top-level key names every key below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from settings.schema.section import Section
from settings.schema.stack import Settings
from settings.validation.messages import keys_of, section_of

pytestmark = pytest.mark.config

PROJECT = Path(__file__).resolve().parents[2] / "Pulumi.yaml"
SECTIONS = {
    str(field.alias): section
    for field in Settings.model_fields.values()
    if (section := section_of(field.annotation)) is not None
}


def keys_below(section: type[Section]) -> Iterator[str]:
    for key, field in zip(keys_of(section), section.model_fields.values(), strict=True):
        yield key
        inner = section_of(field.annotation)
        yield from keys_below(inner) if inner is not None else ()


@pytest.mark.parametrize(("key", "section"), SECTIONS.items(), ids=SECTIONS)
def test_a_description_names_every_key_of_its_section(key: str, section: type[Section]) -> None:
    described = set(re.findall(r"[A-Za-z]+", yaml.safe_load(PROJECT.read_text())["config"][key]["description"]))
    assert set(keys_below(section)) - described == set()
