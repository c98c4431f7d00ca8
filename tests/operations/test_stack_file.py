"""Stack files that cannot be read as they are meant: one fault for each mistake, with the file and the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from operations import stack_file
from operations.stack import up
from operations.stack.engine import OperationError
from rehearsal.host.layout import Layout
from settings.validation.problem import ConfigurationError, Problem
from tests.support.platforms import TUTORIAL, as_config

pytestmark = pytest.mark.unit

ROOT = Path(__file__).resolve().parents[2]

CASES: list[tuple[str, bytes, str, str, str]] = [
    ("empty", b"", "Pulumi.x.yaml", "an empty file", "Pulumi.dev.yaml"),
    ("comments only", b"# nothing\n", "Pulumi.x.yaml", "an empty file", "Pulumi.dev.yaml"),
    ("no config", b"encryptionsalt: v1\n", "Pulumi.x.yaml", "no key `config`", "Pulumi.dev.yaml"),
    ("config without keys", b"config:\n", "Pulumi.x.yaml, line 1", "nothing below it", "Pulumi.dev.yaml"),
    ("config is a list", b"config:\n  - a\n", "Pulumi.x.yaml, line 2", "a list", "Pulumi.dev.yaml"),
    ("config is text", b"config: x\n", "Pulumi.x.yaml, line 1", "a single value", "Pulumi.dev.yaml"),
    ("a list", b"- 1\n", "Pulumi.x.yaml, line 1", "a list", "Pulumi.dev.yaml"),
    ("open bracket", b"config:\n  a: [1\n  b: 2\n", "Pulumi.x.yaml, line 3", "expected ','", "mend the line"),
    ("tab", b"config:\n\ta: 1\n", "Pulumi.x.yaml, line 2", "'\\t'", "with spaces"),
    ("two documents", b"config: {}\n---\nconfig: {}\n", "Pulumi.x.yaml, line 2", "another document", "mend"),
    ("unknown alias", b"config:\n  a: *b\n", "Pulumi.x.yaml, line 2", "undefined alias", "mend"),
    ("bad merge", b"config:\n  <<: 3\n", "Pulumi.x.yaml, line 2", "for merging", "mend"),
    ("date", b"config:\n  l:\n    since: 2024-01-01\n", "Pulumi.x.yaml, line 3", "2024-01-01", "in quotes"),
    ("date as a key", b"config:\n  2024-01-01: 1\n", "Pulumi.x.yaml, line 2", "2024-01-01", "in quotes"),
    ("not a number", b"config:\n  a: .nan\n", "Pulumi.x.yaml, line 2", ".nan", "write a number"),
    ("wrong type stated", b"config:\n  a: !!int x\n", "Pulumi.x.yaml, line 2", "x", "in quotes"),
    ("empty number stated", b"config:\n  a: !!int ''\n", "Pulumi.x.yaml, line 2", "", "in quotes"),
    ("type of somebody's", b"config:\n  a: !secret x\n", "Pulumi.x.yaml, line 2", "x", "in quotes"),
    ("set", b"config:\n  a: !!set {x, y}\n", "Pulumi.x.yaml, line 2", "a set", "in quotes"),
    ("map of a list", b"config:\n  a: !!map [1]\n", "Pulumi.x.yaml, line 2", "a map", "in quotes"),
    ("list as a key", b"config:\n  ? [1]\n  : 2\n", "Pulumi.x.yaml, line 2", "a list", "write a name"),
    ("in itself", b"config:\n  a: &x [*x]\n", "Pulumi.x.yaml, line 2", "contains itself", "write it out"),
    ("too deep", b"config:\n  a: " + b"[" * 3000 + b"]" * 3000 + b"\n", "Pulumi.x.yaml", "nested too deep", "flat"),
    ("long number", b"config:\n  a: " + b"9" * 5000 + b"\n", "Pulumi.x.yaml, line 2", "999", "in quotes"),
    ("not text", b"config:\n  a: b\n  c: \xff\n", "Pulumi.x.yaml, line 3", "not text", "UTF-8"),
    ("control character", b"config:\n  a: \x00\n", "Pulumi.x.yaml, line 2", "U+0000", "remove it"),
    ("key twice", b"config:\n  a: 1\n  b: 2\n  a: 3\n", "Pulumi.x.yaml, line 4", "the key a again", "remove one"),
    (
        "inner key twice",
        b"config:\n  l:\n    a: 1\n    a: 1\n",
        "Pulumi.x.yaml, line 4",
        "the key a again",
        "remove one",
    ),
    ("config twice", b"config: {}\nconfig: {}\n", "Pulumi.x.yaml, line 2", "the key config again", "remove one"),
]


def only_problem(path: Path) -> Problem:
    with pytest.raises(ConfigurationError) as caught:
        stack_file.read(path)
    (problem,) = caught.value.problems
    return problem


@pytest.mark.parametrize(("content", "place", "got", "fix"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_what_cannot_be_read_names_file_line_and_way_out(tmp_path: Path, content, place, got, fix) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_bytes(content)
    problem = only_problem(path)
    assert str(problem).startswith(f"{place}\n")
    assert got in str(problem.value)
    assert fix in problem.fix


def test_all_duplicates_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text("config:\n  a: 1\n  a: 2\n  b: {x: 1, x: 2}\n")
    with pytest.raises(ConfigurationError) as caught:
        stack_file.read(path)
    assert [problem.path for problem in caught.value.problems] == ["Pulumi.x.yaml, line 3", "Pulumi.x.yaml, line 4"]


def test_a_missing_file_and_a_folder_are_faults(tmp_path: Path) -> None:
    assert "stack file named Pulumi.x.yaml" in only_problem(tmp_path / "Pulumi.x.yaml").expected
    assert "directory" in str(only_problem(tmp_path).value)


def test_values_are_text_or_json_as_the_engine_hands_them_over(tmp_path: Path) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    path.write_text(
        "config:\n  t: text\n  n: 3\n  b: false\n  z: null\n  m: &m {x: [1, a]}\n  c: {<<: *m, y: 2.5}\n  1: u\n"
    )
    assert stack_file.read(path) == {
        "t": "text", "n": "3", "b": "false", "z": "null", "m": '{"x": [1, "a"]}', "c": '{"x": [1, "a"], "y": 2.5}', "1": "u",
    }  # fmt: skip


@pytest.mark.parametrize("path", sorted(ROOT.glob("Pulumi.*.yaml")), ids=lambda path: path.name)
def test_the_committed_stacks_read_as_any_yaml_reader_reads_them(path: Path) -> None:
    values = yaml.safe_load(path.read_text())["config"]
    assert stack_file.read(path) == {k: v if isinstance(v, str) else json.dumps(v) for k, v in values.items()}


def stack(folder: Path, **changes: object) -> Layout:
    values = {**as_config(TUTORIAL), **{f"tpu-platform:{key}": json.dumps(value) for key, value in changes.items()}}
    (folder / "Pulumi.local.yaml").write_text(yaml.safe_dump({"config": values}))
    return Layout(folder / ".rehearsal", folder)


def test_a_plan_can_be_made_before_the_charts_are_there(tmp_path: Path) -> None:
    layout = stack(tmp_path, charts={"kueue": "not/there/yet"})
    assert len(up.plan_of(layout, "local", charts=False).pools) == 3
    with pytest.raises(OperationError, match=r"tpu-platform:charts\.kueue"):
        up.plan_of(layout, "local")


def test_a_fault_is_told_before_anything_is_built(tmp_path: Path, monkeypatch) -> None:
    """A cold machine builds its tools for ten minutes."""
    built: list[object] = []
    monkeypatch.setattr(up.lifecycle, "choose_ports", lambda layout, port: None)
    monkeypatch.setattr(up.Toolchain, "ensure", built.append)
    with pytest.raises(OperationError, match="tpu-platform:labels"):
        up.run(stack(tmp_path, labels=3), None)
    assert built == []
