"""The commands of each tool as rows: all that the outputs of many tools need of one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

from ..spec.model import Toolset, ToolSpec
from .cli_commands import CliPositional, cli_commands
from .target import Context, Results

__all__ = ["CliRow", "CliTool", "cli_block_rows", "cli_tools"]


class CliRow(NamedTuple):
    """One command; see `CliCommand`. `action` is the action's name."""

    tool: str
    keyword: str
    flag: str | None
    positionals: tuple[CliPositional, ...]
    action: str | None
    line: str
    comment: str


@dataclass(frozen=True)
class CliTool:
    """What one tool has of the command line.

    Attributes:
        name: the tool's name.
        key: all that it has as JSON text.
    """

    name: str
    key: str

    @cached_property
    def _values(self) -> list[Any]:
        values: list[Any] = json.loads(self.key)
        return values

    @property
    def keyword(self) -> str | None:
        """Its keyword; None without one."""
        keyword: str | None = self._values[0]
        return keyword

    @property
    def reason(self) -> str | None:
        """Why it has none."""
        reason: str | None = self._values[1]
        return reason

    @property
    def rows(self) -> tuple[CliRow, ...]:
        """Its commands."""
        return tuple(_row(self.name, *values) for values in self._values[2])


def cli_tools(
    toolset: Toolset, tools: Sequence[ToolSpec], results: Results
) -> Iterator[CliTool]:
    """What each tool has of the command line, in order; tools without a decision left out."""
    for tool in tools:
        if tool.cli is not None:
            make = partial(_text, toolset, tool)
            yield CliTool(tool.name, results.of_tool(tool, "cli commands", make))


def cli_block_rows(toolset: Toolset, context: Context) -> list[CliTool]:
    """What the CLI block shows: the tools that the command line's client may have."""
    if "cli" not in context.targets:
        return []
    name = toolset.targets.get("cli", {}).get("client")
    client = toolset.client(name) if name is not None else None
    shown = [
        tool
        for tool in toolset.tools_in("cli")
        if client is None or toolset.is_offered(tool, client)
    ]
    return list(cli_tools(toolset, shown, context.results))


def _text(toolset: Toolset, tool: ToolSpec) -> str:
    decision = tool.cli
    commands = [
        [
            *(command.keyword, command.flag),
            [[p.parameter, p.optional, p.rest] for p in command.positionals],
            command.action.name if command.action else None,
            *(command.line, command.comment),
        ]
        for command in cli_commands(toolset, [tool])
    ]
    keyword = decision.keyword if decision else None
    reason = decision.reason if decision else None
    return json.dumps([keyword, reason, commands])


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
