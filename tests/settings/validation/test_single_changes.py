"""Every single change of a valid configuration: one mistake is one fault, and what the fault says to write is taken."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from settings.load import plan_from
from settings.validation.problem import ConfigurationError, Problem
from tests.support.generations import SLICES, with_job
from tests.support.platforms import AUTOPILOT, BOTH, TUTORIAL, as_config
from tests.support.problems import NOWHERE

pytestmark = pytest.mark.unit

Place = tuple[Any, ...]
TEAMS: dict[str, Any] = {
    **TUTORIAL,
    "priorities": [{"name": "low", "value": 100}, {"name": "high", "value": 1000, "pods": True}],
    "queues": [{"cohort": "teams", "limits": {"vlp-24": {"borrow": 16, "lend": 0}}}],
    "teams": [
        {"name": "team-a", "members": {"users": ["ann@example.com"]}, "flavors": {"vlp-24": {"chips": 8, "borrow": 8}}},
        {"name": "team-b", "flavors": {"vlp-24": {"chips": 8, "lend": 8}}, "weight": 2},
    ],
    "workloads": [
        {"name": "shared", "slices": 2, "priority": "low"},
        {"name": "own", "slices": 2, "team": "team-a", "priority": "high"},
    ],
}
BASES = {
    "tutorial": TUTORIAL,
    "both": {**TUTORIAL, **BOTH},
    "autopilot": {**TUTORIAL, **AUTOPILOT},
    "teams": TEAMS,
    "generations": {
        **with_job(["reserved", "spot", "v5p"], 2),
        "slices": [section for section in SLICES if section["flavor"] in ("reserved", "spot", "v5p")],
        "queues": [{"clusterQueue": "a", "localQueue": "training", "flavors": ["reserved", "spot", "v5p"]}],
    },
}
OTHERS = (None, True, -1, 0, 5, 2.5, "", "zzz", "A b", "x" * 70, [])


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Where something can be changed."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*at, key)
        yield from places(child, (*at, key))


def changes(around: Any, key: Any) -> dict[str, Callable[[Any], None]]:
    """What can be done to one value, by name."""

    def write(value: Any) -> Callable[[Any], None]:
        return lambda container: container.__setitem__(key, value)

    found: dict[str, Callable[[Any], None]] = {"deleted": lambda container: container.__delitem__(key)}
    found.update({f"replaced by {value!r}": write(value) for value in OTHERS})
    if isinstance(around, dict):
        found["misspelt"] = lambda container: container.__setitem__(f"{key}x", container.pop(key))
    else:
        found["repeated"] = lambda container: container.insert(key, copy.deepcopy(container[key]))
    if isinstance(around[key], str):
        found.update(
            {
                "longer": write(f"{around[key]}x"),
                "shorter": write(around[key][:-1]),
                "large": write(around[key].upper()),
            }
        )
    return found


def single_changes(base: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for place in places(base):
        for name, change in changes(inside(base, place[:-1]), place[-1]).items():
            values = copy.deepcopy(base)
            change(inside(values, place[:-1]))
            yield f"{'.'.join(map(str, place))} {name}", values


def inside(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def problems(values: dict[str, Any]) -> tuple[Problem, ...]:
    try:
        plan_from(as_config(values), NOWHERE)
    except ConfigurationError as error:
        return error.problems
    return ()


def advised(problem: Problem) -> Any:
    """The value that a remedy says to write, None where it leaves that open."""
    match = re.match(r"write (\[.*?\]|'.*?'|[^\s,;:(]+)(?=$|[,;:]| or| \()", problem.fix)
    if match is None or match.group(1) in ("text", "true"):
        return None
    return yaml.safe_load(match.group(1))


def as_place(path: str) -> Place:
    return tuple(int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", path))


@cache
def faulty_changes(base: str) -> list[tuple[str, dict[str, Any], tuple[Problem, ...]]]:
    every = [(name, values, problems(values)) for name, values in single_changes(BASES[base])]
    return [(name, values, found) for name, values, found in every if found]


@pytest.mark.parametrize("base", BASES)
def test_one_change_gives_at_most_one_fault(base) -> None:
    """A whole queue is more than one thing: its flavors and the nodes for Ray's heads go with it."""
    several = [name for name, _, found in faulty_changes(base) if len(found) > 1]
    assert [name for name in several if name != "queues.1 deleted"] == []
    assert len(faulty_changes(base)) > 300


@pytest.mark.parametrize("base", BASES)
def test_what_a_fault_says_to_write_is_not_refused_again(base) -> None:
    followed, refused = 0, []
    for name, values, (problem, *_) in faulty_changes(base):
        place, value = as_place(problem.path), advised(problem)
        if value is None or problem.expected.startswith("a known key"):
            continue
        mended = copy.deepcopy(values)
        inside(mended, place[:-1])[place[-1]] = value
        followed += 1
        refused += [f"{name}: {problem}" for again in problems(mended) if again.path == problem.path]
    assert refused == []
    assert followed > 50
