"""Bad configurations and what they give: shared by the tests of faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import TUTORIAL, as_config

from settings.faults import ConfigurationError, Fault
from settings.plan import plan_from

NOWHERE = Path("/nowhere")


SLICES = TUTORIAL["slices"][0]
JOB = TUTORIAL["workloads"][0]
GIVEN = {"network": "n", "subnetwork": "s", "podsRange": "pods", "servicesRange": "services"}


def slices(**changes: Any) -> list[dict[str, Any]]:
    return [{**SLICES, **changes}]


def jobs(**changes: Any) -> list[dict[str, Any]]:
    return [{**JOB, **changes}]


def cluster(**changes: Any) -> dict[str, Any]:
    return {**TUTORIAL["cluster"], **changes}


def each(cases: Sequence[tuple[str, Any, str, str, str]]) -> pytest.MarkDecorator:
    """A test of each case: (what it is, values, path of its one fault, part of what is wanted, part of the remedy)."""
    names, values = [case[0] for case in cases], [case[1:] for case in cases]
    return pytest.mark.parametrize(("values", "path", "wanted", "remedy"), values, ids=names)


def faults_in(values: dict[str, Any], **foreign: str) -> list[Fault]:
    """The faults of a stack file's values, and of keys without our prefix."""
    with pytest.raises(ConfigurationError) as caught:
        plan_from({**as_config(values), **foreign}, NOWHERE)
    return list(caught.value.faults)


def only_fault(values: dict[str, Any], **foreign: str) -> Fault:
    """The one fault of a configuration with one mistake."""
    faults = faults_in(values, **foreign)
    assert len(faults) == 1, [str(fault) for fault in faults]
    return faults[0]


def is_the_only_fault(values: dict[str, Any], path: str, wanted: str, remedy: str) -> None:
    """One mistake gives one fault, with its key, the rule and the way out."""
    fault = only_fault(values)
    assert fault.path == path
    assert wanted in fault.wanted
    assert remedy in fault.remedy
