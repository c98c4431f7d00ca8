"""What is checked before the first resource: the configuration, and the tools that the machine must have."""

from __future__ import annotations

import shutil
from pathlib import Path

import pulumi
from pulumi.runtime.config import CONFIG

from components.manifests.kubeconfig import AUTH_PLUGIN, INSTALL_HINT
from settings.load import plan_from
from settings.plan.plan import Plan
from settings.validation.problem import ConfigurationError


def plan_of_stack(folder: Path) -> Plan:
    """The plan of the selected stack. RunError is printed as it stands, with no traceback."""
    try:
        return plan_from(CONFIG.get(), folder)
    except ConfigurationError as error:
        raise pulumi.RunError(str(error)) from None


def require_tools(*, preview: bool) -> None:
    """The plugin must be there before anything is created: without it the cluster would stand, paid for, and the next
    step would fail. A preview of a new stack does not use it, so there it is only a warning."""
    if shutil.which(AUTH_PLUGIN) is not None:
        return
    if preview:
        pulumi.log.warn(f"{INSTALL_HINT} `pulumi up` will refuse to start without it.")
        return
    raise pulumi.RunError(f"{INSTALL_HINT} Nothing has been created or changed.")
