"""`pytest tests/golden --update-golden` rewrites the files from what the program renders now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

FILES = Path(__file__).parent / "files"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


class _Dumper(yaml.SafeDumper):
    """Text of several lines as such, so that a program in a manifest can be read."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)


_Dumper.add_representer(str, _text)


class Golden:
    def __init__(self, update: bool) -> None:
        self._update = update

    def check(self, name: str, *documents: dict[str, Any]) -> None:
        self.check_text(f"{name}.yaml", yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, width=120))

    def check_text(self, name: str, text: str) -> None:
        path = FILES / name
        if self._update:
            path.write_text(text)
        assert path.is_file(), f"{path.name} is missing: run `pytest tests/golden --update-golden` and look at it"
        assert text == path.read_text(), (
            f"{path.name} differs: run `pytest tests/golden --update-golden`, then read the diff"
        )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(request.config.getoption("--update-golden", default=False))
