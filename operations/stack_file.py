"""A stack file as the engine hands it to the program: flat, each value as text or JSON.

The engine's own reader takes the last of two equal keys and gives no line for what it cannot read; this one refuses both, with
the line.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from settings.validation.problem import ConfigurationError, Described, Problem, refuse_if_any

_YAML = "tag:yaml.org,2002:"
_MERGE = f"{_YAML}merge"
_KINDS: dict[type[yaml.Node], tuple[str, ...]] = {
    yaml.MappingNode: ("map",),
    yaml.SequenceNode: ("seq",),
    yaml.ScalarNode: ("str", "int", "float", "bool", "null"),
}
"""What JSON knows too."""


def read(path: Path) -> dict[str, str]:
    """The configuration in a stack file. Raises ConfigurationError with the file and the line of each fault."""
    text = _text(path)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        config = _config(path, root)
        refuse_if_any([*_problems(path, root, ())])
        values = yaml.SafeLoader("").construct_document(config)
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n")
        got, expected = Described(f"character U+{error.character:04X}"), "text without control characters"
        raise _error(path, line, got, expected, "remove it") from None
    except yaml.MarkedYAMLError as error:
        raise _not_yaml(path, error) from None
    except RecursionError:
        raise _error(path, None, Described("values nested too deep"), "YAML", "write it flat") from None
    return {_as_text(key): _as_text(value) for key, value in values.items()}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        expected = f"a stack file named {path.name}, beside Pulumi.yaml in {path.parent}"
        raise _error(path, None, Described("no file"), expected, "copy one of the committed stack files") from None
    except OSError as error:
        got, expected = Described(f"an error of the system: {error.strerror}"), "a file that can be read"
        raise _error(path, None, got, expected, "look at what it is, and at its rights") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n")
        raise _error(path, line, Described("bytes that are not text"), "text in UTF-8", "save it as UTF-8") from None


def _not_yaml(path: Path, error: yaml.MarkedYAMLError) -> ConfigurationError:
    mark = error.problem_mark if error.problem_mark is not None else error.context_mark
    line = mark.line if mark is not None else None
    problem = " ".join(str(part) for part in (error.context, error.problem) if part)
    fix = "indent with spaces, not with a tab" if "'\\t'" in problem else "mend the line, or the one before it"
    return _error(path, line, Described(problem), "YAML", fix)


def _config(path: Path, root: yaml.Node | None) -> yaml.MappingNode:
    expected, fix = "a map with the key `config`, and our keys below it", "see Pulumi.dev.yaml for one that works"
    if root is None:
        raise _error(path, None, Described("an empty file"), expected, fix)
    if not isinstance(root, yaml.MappingNode):
        raise _error(path, root.start_mark.line, Described(_kind(root)), expected, fix)
    found = [value for key, value in root.value if key.value == "config"]
    if not found:
        raise _error(path, None, Described("no key `config`"), expected, fix)
    if not isinstance(found[0], yaml.MappingNode):
        kind = Described(f"`config` with {_kind(found[0])}")
        raise _error(path, found[0].start_mark.line, kind, expected, fix)
    return found[0]


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return "nothing below it" if node.tag.endswith(":null") else "a single value"


def _problems(path: Path, node: yaml.Node, around: tuple[yaml.Node, ...]) -> Iterator[Problem]:
    """What the engine would take in another sense than it is written, or not at all."""
    if node in around:
        yield _fault(path, node, Described("a value that contains itself"), "a value that ends", "write it out")
        return
    if isinstance(node, yaml.MappingNode):
        yield from _keys(path, node)
    yield from _value(path, node)
    for child in _children(node):
        yield from _problems(path, child, (*around, node))


def _value(path: Path, node: yaml.Node) -> Iterator[Problem]:
    kind = node.tag.removeprefix(_YAML)
    got = node.value if isinstance(node, yaml.ScalarNode) else Described(f"a {kind}")
    if kind not in _KINDS[type(node)]:
        expected = f"text, a number, true or false, a list or a map; YAML takes this for a {kind}"
        yield _fault(path, node, got, expected, "put it in quotes, with no `!` before it")
    elif isinstance(node, yaml.ScalarNode):
        try:
            value = yaml.SafeLoader("").construct_object(node)
        except (ValueError, LookupError):
            yield _fault(path, node, got, f"a value of YAML's type {kind}", "put it in quotes, with no `!` before it")
        else:
            if isinstance(value, float) and not math.isfinite(value):
                yield _fault(path, node, got, "a number, text, or true or false", "write a number")


def _keys(path: Path, node: yaml.MappingNode) -> Iterator[Problem]:
    seen: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            yield _fault(path, key, Described(_kind(key)), "text as a key", "write a name")
        elif key.tag == _MERGE:
            continue
        elif key.value in seen:
            expected = f"each key once: it stands in line {seen[key.value]} already"
            yield _fault(path, key, Described(f"the key {key.value} again"), expected, "remove one of the two")
        else:
            seen[key.value] = key.start_mark.line + 1
            yield from _value(path, key)


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        yield from (value for _, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


def _fault(path: Path, node: yaml.Node, got: Any, expected: str, fix: str) -> Problem:
    return Problem(f"{path.name}, line {node.start_mark.line + 1}", got, expected, fix, prefix="")


def _error(path: Path, line: int | None, got: Any, expected: str, fix: str) -> ConfigurationError:
    place = path.name if line is None else f"{path.name}, line {line + 1}"
    return ConfigurationError([Problem(place, got, expected, fix, prefix="")])
