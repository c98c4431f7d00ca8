"""The offline preview's own decisions: what is copied, which environments there are, what the policies say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from operations.preview import preview
from operations.stack.engine import OperationError
from rehearsal.host.layout import Layout

pytestmark = pytest.mark.unit


@pytest.fixture
def checkout(tmp_path: Path) -> Layout:
    (tmp_path / "Pulumi.yaml").write_text("name: tpu-platform\n")
    guarded = {
        "secretsprovider": "gcpkms://somebodys-key",
        "encryptedkey": "x",
        "config": {"tpu-platform:project": "p"},
    }
    (tmp_path / "Pulumi.prod.yaml").write_text(yaml.safe_dump(guarded))
    (tmp_path / "Pulumi.dev.yaml").write_text("config: {}\n")
    return Layout(tmp_path / ".rehearsal", tmp_path)


def test_the_environments_are_the_stack_files(checkout: Layout) -> None:
    assert preview.environments(checkout) == ["dev", "prod"]
    with pytest.raises(OperationError, match=r"no Pulumi\.production\.yaml; environments: dev, prod"):
        preview.known(checkout, "production")


def test_no_key_of_the_cloud_is_taken_along(checkout: Layout, tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    own = preview._project(checkout.checkout, "prod", folder)
    assert yaml.safe_load(own.read_text()) == {"config": {"tpu-platform:project": "p"}}
    assert sorted(path.name for path in folder.iterdir()) == ["Pulumi.prod.yaml", "Pulumi.yaml"]


def test_a_preview_that_fails_gives_its_errors_and_not_the_engines_json() -> None:
    words = "Duplicate resource URN 'urn:pulumi:dev::p::t::n'; try giving it a unique name\n"
    diagnostics = [
        {"message": "deprecated", "severity": "warning"},
        {"message": words, "severity": "error"},
        {"message": words, "severity": "error"},
    ]
    shown = json.dumps({"steps": [{"op": "create"}], "diagnostics": diagnostics})
    assert preview.explained(shown, "") == words.strip()


@pytest.mark.parametrize("stdout", ["", "no json", "[]", '{"steps": []}', '{"diagnostics": []}'])
def test_a_preview_that_fails_without_errors_in_json_gives_its_last_lines(stdout: str) -> None:
    assert preview.explained(stdout, "error: no stack\n").endswith("error: no stack")
