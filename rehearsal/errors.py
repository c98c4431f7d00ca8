"""The errors that a rehearsal reports to its user in one message, without a traceback."""

from __future__ import annotations

INTERRUPTED = 130
"""The exit code that a shell reports for a command interrupted by Ctrl-C."""


class RehearsalError(Exception):
    """The rehearsal cannot do what was asked; the text states why and what to do."""


class SandboxError(Exception):
    """The sandbox could not be made or entered; the text states why and what to do."""


class SupervisorError(Exception):
    """The supervisor refused a request or did not answer."""


class ToolError(Exception):
    """A program could not be built or installed."""


class ControlPlaneError(Exception):
    """A control plane did not come up; the text names the program and its last lines."""


KNOWN_ERRORS = (RehearsalError, SandboxError, SupervisorError, ToolError, ControlPlaneError)
