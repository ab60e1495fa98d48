"""Compares two states of a project: the whole of `toolcast diff` but for what it prints."""

from __future__ import annotations

from typing import NamedTuple

from ..model.model import Workspace
from .change import Change
from .effects.deriving import effects_of
from .effects.effect import Effect
from .table import families
from .tool_life import match

__all__ = ["Comparison", "compare"]


class Comparison(NamedTuple):
    """What is different between two states of a project.

    Attributes:
        changes: what the specs say differently, graded; in order by toolset, tool, path and
            rule. Acceptances and limits of grades are about these.
        effects: what follows from all of them together for those who read the tools:
            clients, programs, providers. They have no grades of their own, since a change
            beside them has them; in order by toolset, tool, kind and reader.
    """

    changes: list[Change]
    effects: list[Effect]


def compare(before: Workspace, after: Workspace) -> Comparison:
    """What has changed, and what that comes to.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    matched = match(before, after)
    changes = list(matched.changes)
    extensions = tuple(dict.fromkeys((*before.extensions, *after.extensions)))
    for family in families(extensions):
        if family.compare_workspaces is not None:
            changes += family.compare_workspaces(before, after)
        if family.compare_toolsets is not None:
            for old, new in matched.toolsets:
                changes += family.compare_toolsets(old, new, before, after)
        if family.compare_tools is not None:
            for both in matched.tools:
                # What both sides have alike was loaded once.
                if both.before is not both.after:
                    changes += family.compare_tools(both)
    changes.sort(key=lambda c: (c.toolset, c.tool, list(map(str, c.path)), c.rule.id))
    effects = sorted(
        effects_of(matched), key=lambda e: (e.toolset, e.tool, e.kind, e.reader)
    )
    return Comparison(changes, effects)
