"""The file that lists are answered from: a line a tool, in the declared order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..output.results import Piece, Results
from ..spec.model import ToolSpec
from ..text.json_text import compact
from .mcp_definition import mcp_definition

__all__ = ["DEFINITION", "PREPARED_LINE", "prepared_tools"]


def prepared_tools(tools: Sequence[ToolSpec], results: Results) -> bytes:
    """`definitions.jsonl`; `runtime/prepared_tools.py` says what a line holds."""
    lines = results.parts(PREPARED_LINE, tools)
    return b"".join([*lines, b"\n"]) if tools else b""


def _line(tool: ToolSpec) -> str:
    definition = mcp_definition(tool)
    values: dict[str, Any] = {"name": tool.name, "summary": tool.summary}
    if definition.get("description") != tool.model_description:
        values["description"] = tool.model_description
    if tool.when_to_use and not tool.always:
        values["when_to_use"] = tool.when_to_use
    if tool.always:
        values["always"] = True
    # Last, so that its bytes can be taken out without the line being read as JSON.
    values["definition"] = definition
    return compact(values)


def _definition(tool: ToolSpec) -> str:
    return compact(mcp_definition(tool))


PREPARED_LINE = Piece("prepared line", _line, b"\n")
DEFINITION = Piece("definition", _definition)
"""A tool as MCP's `tools/list` shows it, on one line."""
