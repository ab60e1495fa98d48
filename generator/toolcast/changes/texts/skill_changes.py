"""Changes of Agent Skills; what tools and sections say in them has changes of its own."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.model import Toolset, ToolSpec, Workspace
from ..change import Both, Change, files_of
from .text_change import Owner, TextSides, text_changes

__all__ = ["compare_tools", "compare_toolsets"]


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of the texts of a toolset's skill."""
    owner = Owner(files_of(before, after), (before, after), (was, now))
    yield from _texts(before, after, owner)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of a tool's own skill's description."""
    owner = Owner(
        both.files,
        (both.toolset_before, both.toolset_after),
        (both.workspace_before, both.workspace_after),
        (both.before, both.after),
    )
    yield from _texts(both.before, both.after, owner)


def _texts(
    before: Toolset | ToolSpec, after: Toolset | ToolSpec, owner: Owner
) -> Iterator[Change]:
    old, new = before.skill or {}, after.skill or {}
    for field in ("description", "guidance"):
        subject = f"the skill's {field}"
        sides = TextSides(("skill", field), subject, old.get(field), new.get(field))
        yield from text_changes(sides, owner)
