"""The comment on a pull request: one, of ours, whatever else stands there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from operations.preview import pull_request
from operations.preview.comment import LONGEST
from operations.preview.pull_request import AUTHOR, MARK, body, post

pytestmark = pytest.mark.unit


class GitHub:
    """Comments of pull request 7 as GitHub's API keeps them, in pages."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.tokens: set[str | None] = set()

    def add(self, login: str, text: str) -> dict[str, Any]:
        self.comments.append({"id": len(self.comments), "user": {"login": login}, "body": text})
        return self.comments[-1]

    def answer(self, method: str, path: str, content: Any) -> tuple[int, Any]:
        where, _, query = path.partition("?")
        if where == "/repos/o/r/issues/7/comments" and method == "POST":
            return 201, self.add(AUTHOR, content["body"])
        if where == "/repos/o/r/issues/7/comments":
            asked = dict(part.split("=") for part in query.split("&"))
            size, page = int(asked["per_page"]), int(asked["page"])
            return 200, self.comments[(page - 1) * size : page * size]
        if where.startswith("/repos/o/r/issues/comments/") and method == "PATCH":
            comment = self.comments[int(where.rsplit("/", 1)[-1])]
            comment["body"] = content["body"]
            return 200, comment
        return 404, {"message": "Not Found"}


@pytest.fixture
def github() -> Iterator[tuple[GitHub, dict[str, str]]]:
    state = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            state.tokens.add(self.headers["Authorization"])
            length = int(self.headers.get("Content-Length", "0"))
            code, content = state.answer(
                self.command, self.path, json.loads(self.rfile.read(length)) if length else None
            )
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        do_GET = do_POST = do_PATCH = _any

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    variables = {
        "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}",
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_TOKEN": "a-token",
        "PULL_REQUEST": "7",
    }
    yield state, variables
    server.shutdown()
    server.server_close()


def test_the_second_run_edits_what_the_first_one_wrote(github: Any) -> None:
    state, variables = github
    for number in range(120):
        state.add("somebody", f"{MARK}\nnot ours {number}")
    for text in ("first", "second"):
        assert post(f"{MARK}\n{text}", variables) == 0
    assert [one["body"] for one in state.comments if one["user"]["login"] == AUTHOR] == [f"{MARK}\nsecond"]
    assert len(state.comments) == 121
    assert state.tokens == {"Bearer a-token"}


def test_another_comment_of_actions_stays(github: Any) -> None:
    state, variables = github
    state.add(AUTHOR, "of another workflow")
    post(f"{MARK}\nours", variables)
    assert [one["body"] for one in state.comments] == ["of another workflow", f"{MARK}\nours"]


def test_what_github_refuses_is_said(
    github: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, variables = github
    for name, value in {**variables, "PULL_REQUEST": "8"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.argv", ["comment", str(tmp_path)])
    assert pull_request.main() == 1
    assert "404" in capsys.readouterr().err
    monkeypatch.delenv("GITHUB_TOKEN")
    assert pull_request.main() == 1
    assert "GITHUB_TOKEN is not set" in capsys.readouterr().err


def test_all_environments_stand_in_it_as_far_as_they_fit(tmp_path: Path) -> None:
    for name, text in (("dev", "### `dev`\n"), ("local", "x" * LONGEST), ("prod", "### `prod`\n")):
        (tmp_path / f"comment-{name}").mkdir()
        (tmp_path / f"comment-{name}" / f"{name}.md").write_text(text)
    text = body(tmp_path)
    assert text.splitlines()[0] == MARK
    assert [line for line in text.splitlines() if line.startswith("###")] == [
        "### `dev`",
        "### `local`: too long for a comment; see the summary of its job",
        "### `prod`",
    ]
