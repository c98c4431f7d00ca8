"""Resource options that several components give to their children."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi


def child(
    parent: pulumi.Resource,
    depends_on: Sequence[pulumi.Resource] = (),
    timeout: str | None = None,
    delete_timeout: str | None = None,
    *,
    hooks: pulumi.ResourceHookBinding | None = None,
    protect: bool | None = None,
    ignore_changes: Sequence[str] = (),
    replace_on_changes: Sequence[str] = (),
    delete_before_replace: bool | None = None,
    replacement_trigger: str | None = None,
) -> pulumi.ResourceOptions:
    """Options of a child: the parent and what is stated here, and nothing of the parent's own options.

    Property names in options are the engine's own (`nodeConfig.machineType`): the SDK renames only the first part of
    a path, and one that matches nothing is ignored without a word. Providers and protection reach children through
    the parent; passing the parent's options on would give children its aliases and its dependencies as well.
    """
    timeouts = None
    if timeout is not None or delete_timeout is not None:
        removal = delete_timeout if delete_timeout is not None else timeout
        timeouts = pulumi.CustomTimeouts(create=timeout, update=timeout, delete=removal)
    return pulumi.ResourceOptions(
        parent=parent,
        depends_on=list(depends_on),
        custom_timeouts=timeouts,
        hooks=hooks,
        protect=protect,
        ignore_changes=list(ignore_changes) or None,
        replace_on_changes=list(replace_on_changes) or None,
        delete_before_replace=delete_before_replace,
        replacement_trigger=replacement_trigger,
    )
