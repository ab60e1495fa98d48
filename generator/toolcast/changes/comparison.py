"""Compares two states of a project: the whole of `toolcast diff` but for what it prints."""

from __future__ import annotations

from ..model.model import Workspace
from .change import Change
from .table import families
from .tool_life import match

__all__ = ["compare"]


def compare(before: Workspace, after: Workspace) -> list[Change]:
    """What has changed, in order: by toolset, tool, path and rule.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    matched = match(before, after)
    changes = list(matched.changes)
    extensions = tuple(dict.fromkeys((*before.extensions, *after.extensions)))
    for family in families(extensions):
        if family.compare_toolsets is not None:
            for old, new in matched.toolsets:
                changes += family.compare_toolsets(old, new, before, after)
        if family.compare_tools is not None:
            for both in matched.tools:
                # What both sides have alike was loaded once.
                if both.before is not both.after:
                    changes += family.compare_tools(both)
    return sorted(
        changes, key=lambda c: (c.toolset, c.tool, list(map(str, c.path)), c.rule.id)
    )
