"""`make comment`: what the offline previews say of a pull request, as one comment on it that later runs edit.

For GitHub Actions: the previews' Markdown is in a folder, one file an environment; where to post it, and with which token, is
in the variables that Actions gives (GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN) and in PULL_REQUEST, its number.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from operations.preview.comment import LONGEST

MARK = "<!-- offline previews -->"
"""The first line of our comment, by which a later run knows it. Markdown shows nothing of it."""
AUTHOR = "github-actions[bot]"
"""Whom Actions' own token posts as. Others may write our mark too, and theirs is not ours to edit."""
_PAGE = 100
_TIMEOUT_S = 30.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make comment", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the previews' Markdown files are")
    try:
        return post(body(parser.parse_args().folder), os.environ)
    except (OSError, KeyError) as error:
        print(f"error: the comment was not posted: {_explained(error)}", file=sys.stderr)
        return 1


def body(folder: Path) -> str:
    """All previews, by their files' names. One that would make the comment too long is named only."""
    text = f"{MARK}\n"
    for path in sorted(folder.rglob("*.md")):
        said = path.read_text()
        fits = len(text) + len(said) <= LONGEST
        text += f"\n{said}" if fits else f"\n### `{path.stem}`: too long for a comment; see the summary of its job\n"
    return text


def post(text: str, variables: Mapping[str, str]) -> int:
    """Edits our comment, or makes it. Raises KeyError for a variable that is missing, OSError where GitHub does not take it."""
    repository = f"{variables['GITHUB_API_URL']}/repos/{variables['GITHUB_REPOSITORY']}"
    token, comments = variables["GITHUB_TOKEN"], f"{repository}/issues/{variables['PULL_REQUEST']}/comments"
    own = next((one for one in _all(comments, token) if _ours(one)), None)
    if own is not None:
        _call("PATCH", f"{repository}/issues/comments/{own['id']}", token, {"body": text})
    else:
        _call("POST", comments, token, {"body": text})
    return 0


def _ours(comment: Mapping[str, Any]) -> bool:
    return comment["user"]["login"] == AUTHOR and str(comment["body"]).startswith(MARK)


def _all(comments: str, token: str) -> Iterator[Mapping[str, Any]]:
    page = 1
    while True:
        found = _call("GET", f"{comments}?per_page={_PAGE}&page={page}", token)
        yield from found
        if len(found) < _PAGE:
            return
        page += 1


def _call(method: str, url: str, token: str, content: Mapping[str, str] | None = None) -> Any:
    """GitHub's REST API, https://docs.github.com/rest/issues/comments."""
    data = json.dumps(content).encode() if content is not None else None
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
        return json.load(answer)


def _explained(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"{error.args[0]} is not set"
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.read().decode(errors='replace')[:500]}"
    return str(error)


if __name__ == "__main__":
    sys.exit(main())
