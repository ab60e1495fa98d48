"""Changes of texts for people alone: titles, meanings, reasons."""

from __future__ import annotations

from ..change import Grades
from ..family import Family, Rules
from ..field_rows import value

__all__ = ["FAMILY"]

RULES = Rules()
CHANGED = RULES.alone(
    "note/changed",
    "A text that only people read is new, gone, or says something else.",
    Grades(),
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


FAMILY = Family(rules=RULES, tool_rows=_TOOL, toolset_rows=_TOOLSET)
"""Texts that no model and no program reads."""
