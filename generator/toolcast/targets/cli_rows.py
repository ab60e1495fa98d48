"""The commands of each tool as rows: all that the outputs of many tools need of one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from ..output.results import Piece, Results, values_of
from ..spec.model import Toolset, ToolSpec
from .across import offered
from .cli_commands import CliPositional, cli_commands
from .target import Context

__all__ = ["CliRow", "CliTool", "cli_block_tools", "cli_piece", "cli_tools"]


class CliRow(NamedTuple):
    """One command; see `CliCommand`. `action` is the action's name."""

    tool: str
    keyword: str
    flag: str | None
    positionals: tuple[CliPositional, ...]
    action: str | None
    line: str
    comment: str


class CliTool(NamedTuple):
    """What one tool has of the command line; `values` hold all but its name as JSON."""

    name: str
    values: Sequence[Any]

    @property
    def keyword(self) -> str | None:
        """Its keyword; None without one."""
        keyword: str | None = self.values[0]
        return keyword

    @property
    def reason(self) -> str | None:
        """Why it has none."""
        reason: str | None = self.values[1]
        return reason

    @property
    def rows(self) -> tuple[CliRow, ...]:
        """Its commands."""
        return tuple(_row(self.name, *values) for values in self.values[2])


def cli_piece(toolset: Toolset) -> Piece:
    """What a tool has of the command line, as JSON; null without a decision."""
    return Piece("cli commands", partial(_text, toolset))


def cli_tools(
    toolset: Toolset, tools: Sequence[ToolSpec], results: Results
) -> list[CliTool]:
    """What each tool has of the command line, in order; tools without a decision left out."""
    known = values_of(results, cli_piece(toolset), tools)
    return [
        CliTool(tool.name, values)
        for tool, values in zip(tools, known, strict=True)
        if values is not None
    ]


def cli_block_tools(toolset: Toolset, context: Context) -> Sequence[ToolSpec]:
    """What the CLI block shows: the tools that the command line's client may have."""
    if "cli" not in context.targets:
        return ()
    name = toolset.targets.get("cli", {}).get("client")
    client = toolset.client(name) if name is not None else None
    tools = toolset.tools_in("cli")
    if client is None:
        return tools
    return offered(tools, client, context.results)


def _text(toolset: Toolset, tool: ToolSpec) -> str:
    decision = tool.cli
    if decision is None:
        return "null"
    commands = [
        [
            *(command.keyword, command.flag),
            [[p.parameter, p.optional, p.rest] for p in command.positionals],
            command.action.name if command.action else None,
            *(command.line, command.comment),
        ]
        for command in cli_commands(toolset, [tool])
    ]
    return json.dumps([decision.keyword, decision.reason, commands])


def _row(
    tool: str,
    keyword: str,
    flag: str | None,
    positionals: list[list[Any]],
    action: str | None,
    line: str,
    comment: str,
) -> CliRow:
    places = tuple(CliPositional(*values) for values in positionals)
    return CliRow(tool, keyword, flag, places, action, line, comment)
