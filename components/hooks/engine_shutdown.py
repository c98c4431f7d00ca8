"""Keeps a failed `up` readable.

When a step fails, the engine stops answering while the program still registers resources. The language host then
fails to report that failure to the engine, which is gone, and prints a hundred lines of traceback around the one
message that matters. What the engine has said already is all there is to know.
"""

from __future__ import annotations

import sys
from types import TracebackType

import pulumi

_ENGINE_GONE = "Resource monitor has terminated"


def silence_after_engine() -> None:
    """Hides exceptions that only say that the engine has ended or stopped us; all others are shown as ever."""
    sys.excepthook = _show
    sys.unraisablehook = _show_unraisable


def _show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not only_says_that_the_engine_ended(error):
        sys.__excepthook__(kind, error, trace)


def _show_unraisable(event: sys.UnraisableHookArgs) -> None:
    """An interrupt, or the SDK's own clean-up without its event loop, that arrives while Python ends."""
    if not only_says_that_the_engine_ended(event.exc_value) and not _comes_too_late(event.exc_value):
        sys.__unraisablehook__(event)


def only_says_that_the_engine_ended(error: BaseException | None) -> bool:
    """Whether this is an interrupt by the engine, or has the engine's end among its causes."""
    if isinstance(error, KeyboardInterrupt):
        return True
    while error is not None:
        if isinstance(error, pulumi.RunError) and _ENGINE_GONE in str(error):
            return True
        error = error.__cause__ if error.__cause__ is not None else error.__context__
    return False


def _comes_too_late(error: BaseException | None) -> bool:
    return isinstance(error, RuntimeError) and str(error) == "no running event loop"
