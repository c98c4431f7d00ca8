"""Bad configurations and what they give: shared by the tests of faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import as_config

from settings.faults import ConfigurationError, Fault
from settings.plan import plan_from

NOWHERE = Path("/nowhere")


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
