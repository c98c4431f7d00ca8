"""The documents name files that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.support.documents import ROOT

pytestmark = pytest.mark.unit

PAGES = sorted(
    str(page.relative_to(ROOT))
    for folder in (".", "docs", "docs/decisions", "rehearsal", "tools")
    for page in (ROOT / folder).glob("*.md")
)
_SPAN = re.compile(r"`([^`\n]+)`")
_FILE = re.compile(r"[\w.-]+(/[\w.-]+)*\.(py|md|mod|toml|json|in)|[\w.-]+(/[\w.-]+)*/")
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}


def _named(text: str) -> Iterator[str]:
    """Paths in code spans that start in a folder of the repository."""
    for span in _SPAN.findall(text):
        if _FILE.fullmatch(span) and span.split("/")[0] in _FOLDERS and "/" in span:
            yield span


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text()
    missing = [path for path in _named(text) if not (ROOT / path).exists()]
    missing += [link for link in _LINK.findall(text) if not ((ROOT / page).parent / link).exists()]
    assert missing == []


def test_a_path_that_does_not_exist_is_noticed() -> None:
    assert list(_named("`settings/gone.py`, `name.py`, `pulumi up`, `docs/`")) == ["settings/gone.py", "docs/"]
