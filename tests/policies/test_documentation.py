"""The page on pull requests says of the policies what they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from policies.configuration import load
from policies.rules import RULES

pytestmark = pytest.mark.policies

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pull-requests.md"


def test_the_table_of_policies_is_the_list_of_policies() -> None:
    rows = re.findall(r"^\| `([a-z-]+)`: .* \| (all|production) \| (\w+) \|$", PAGE.read_text(), re.MULTILINE)
    configuration = load()
    assert rows == [
        (rule.name, "production" if rule.production_only else "all", configuration.level(rule)) for rule in RULES
    ]
