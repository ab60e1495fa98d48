"""Compares two states of a project: the whole of `toolcast diff` but for what it prints."""

from __future__ import annotations

import datetime
from typing import NamedTuple

from ..model.model import Workspace
from .change import Change, SpecFiles, files_of
from .effects import Effect, effects_of
from .extension_fields import changes_of_extensions
from .field_rows import changes_of
from .life.stability import relaxed
from .life.tool_life import match
from .table import families
from .texts.text_change import with_moved_texts

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


def compare(
    before: Workspace, after: Workspace, today: datetime.date | None = None
) -> Comparison:
    """What has changed, and what that comes to.

    Args:
        today: the day that decides whether a removal was announced; default: the clock's.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    matched = match(before, after, today)
    changes = list(matched.changes)
    extensions = tuple(dict.fromkeys((*before.extensions, *after.extensions)))
    known = families(extensions)
    project = SpecFiles("", "", before.source, after.source)
    for family in known:
        changes += changes_of(family.workspace_rows, project)
        if family.compare_workspaces is not None:
            changes += family.compare_workspaces(before, after)
        for old, new in matched.toolsets:
            changes += changes_of(family.toolset_rows, files_of(old, new))
            if family.compare_toolsets is not None:
                changes += family.compare_toolsets(old, new, before, after)
        for both in matched.tools:
            # What both sides have alike was loaded once.
            if both.before is both.after:
                continue
            changes += changes_of(family.tool_rows, both.files)
            if family.compare_tools is not None:
                changes += family.compare_tools(both)
    changes += changes_of_extensions(matched, known)
    changes = list(with_moved_texts(changes, matched.tools))
    changes = list(relaxed(changes, matched, before))
    changes.sort(key=lambda c: (c.toolset, c.tool, list(map(str, c.path)), c.rule.id))
    is_same = not changes and all(both.before is both.after for both in matched.tools)
    effects = () if is_same else effects_of(matched, before, after)
    order = sorted(effects, key=lambda e: (e.toolset, e.tool, e.kind, e.reader))
    return Comparison(changes, order)
