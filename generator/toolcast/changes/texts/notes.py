"""Changes of texts for people alone: titles, meanings, reasons."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.model import Toolset, Workspace
from ..change import Both, Change, ChangeRule, Family, Grades, files_of
from ..field_rows import changes_of, fields_of_rows, value

__all__ = ["FAMILY"]

CHANGED = ChangeRule(
    "note/changed",
    "A text that only people read is new, gone, or says something else.",
    Grades(),
    opposite="note/changed",
)

_TOOL = (
    value("title", "the title", CHANGED),
    value("when_to_use.reason", "the reason for no `when_to_use`", CHANGED),
    value("cli.reason", "the reason for no subcommand", CHANGED),
    value("since", "what brought the tool", CHANGED),
)
_TOOLSET = (
    value("title", "the toolset's title", CHANGED),
    value("version", "the server's version", CHANGED, default="0.0.0"),
    value("clients.*.title", "the title of the client {}", CHANGED),
    value("pools.*.title", "the title of the pool {}", CHANGED),
    value("mcp_servers.*.title", "the title of the server {}", CHANGED),
)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of a tool's notes."""
    return changes_of(_TOOL, both.files)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's notes."""
    return changes_of(_TOOLSET, files_of(before, after))


FAMILY = Family(
    rules=(CHANGED,),
    tool_fields=fields_of_rows(_TOOL),
    toolset_fields=fields_of_rows(_TOOLSET),
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""Texts that no model and no program reads."""
