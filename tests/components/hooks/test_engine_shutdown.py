"""What is hidden when a step has failed, and that nothing else is."""

from __future__ import annotations

import pulumi
import pytest

from components.hooks.engine_shutdown import only_says_that_the_engine_ended

pytestmark = pytest.mark.unit


def error_with_cause(cause: BaseException) -> BaseException:
    try:
        try:
            raise cause
        except BaseException:  # noqa: BLE001
            raise ValueError("reporting failed")  # noqa: B904 the implicit context is what is tested
    except ValueError as error:
        return error


def test_the_engines_end_is_hidden_even_as_a_cause() -> None:
    ended = pulumi.RunError("Resource monitor has terminated, shutting down")
    assert only_says_that_the_engine_ended(ended)
    assert only_says_that_the_engine_ended(error_with_cause(ended))
    assert only_says_that_the_engine_ended(KeyboardInterrupt())


def test_a_real_failure_is_shown() -> None:
    assert not only_says_that_the_engine_ended(pulumi.RunError("2 faults in the configuration"))
    assert not only_says_that_the_engine_ended(error_with_cause(KeyError("x")))
