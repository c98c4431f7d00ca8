"""Bad configurations and what they give: shared by the tests of faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from settings.load import plan_from
from settings.validation.problem import ConfigurationError, Problem
from tests.support.platforms import TUTORIAL, as_config

NOWHERE = Path("/nowhere")


SLICES = TUTORIAL["slices"][0]
JOB = TUTORIAL["workloads"][0]
EXISTING_NETWORK = {"network": "n", "subnetwork": "s", "podsRange": "pods", "servicesRange": "services"}


def slices(**changes: Any) -> list[dict[str, Any]]:
    return [{**SLICES, **changes}]


def jobs(**changes: Any) -> list[dict[str, Any]]:
    return [{**JOB, **changes}]


def cluster(**changes: Any) -> dict[str, Any]:
    return {**TUTORIAL["cluster"], **changes}


def each(cases: Sequence[tuple[str, Any, str, str, str]]) -> pytest.MarkDecorator:
    """A test of each case: (what it is, values, path of its one fault, part of what is wanted, part of the remedy)."""
    names, values = [case[0] for case in cases], [case[1:] for case in cases]
    return pytest.mark.parametrize(("values", "path", "expected", "fix"), values, ids=names)


def problems_in(values: dict[str, Any], **foreign: str) -> list[Problem]:
    """The faults of a stack file's values, and of keys without our prefix."""
    with pytest.raises(ConfigurationError) as caught:
        plan_from({**as_config(values), **foreign}, NOWHERE)
    return list(caught.value.problems)


def only_problem(values: dict[str, Any], **foreign: str) -> Problem:
    """The one fault of a configuration with one mistake."""
    problems = problems_in(values, **foreign)
    assert len(problems) == 1, [str(problem) for problem in problems]
    return problems[0]


def is_the_only_problem(values: dict[str, Any], path: str, expected: str, fix: str) -> None:
    """One mistake gives one fault, with its key, the rule and the way out."""
    problem = only_problem(values)
    assert problem.path == path
    assert expected in problem.expected
    assert fix in problem.fix
