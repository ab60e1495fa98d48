"""The file that lists are answered from: a line a tool, in the declared order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..encoders.json_text import compact
from ..facts.mcp_definition import mcp_definition
from ..model.model import ToolSpec

__all__ = ["prepared_tools"]


def prepared_tools(tools: Sequence[ToolSpec]) -> bytes:
    """`definitions.jsonl`; `runtime/prepared_tools.py` says what a line holds."""
    return "".join(f"{_line(tool)}\n" for tool in tools).encode("utf-8")


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
