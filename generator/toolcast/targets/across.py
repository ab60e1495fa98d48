"""What outputs of many tools know of each tool, so that they need not ask the tools."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..output.results import Piece, Results, values_of
from ..spec.model import Client, ToolSpec

__all__ = ["ACCESS", "SECTION", "offered", "sections_of_tools"]


def _access(tool: ToolSpec) -> str:
    return json.dumps([tool.clients, tool.renamed_from, tool.persistent])


ACCESS = Piece("access", _access)
"""To whom a tool is offered, its former names, and whether it is persistent."""

SECTION = Piece("section", lambda tool: json.dumps(tool.section))


def offered(
    tools: Sequence[ToolSpec], client: Client, results: Results
) -> Sequence[ToolSpec]:
    """The tools that a client may see and call, as `Toolset.is_offered` says it."""
    known = values_of(results, ACCESS, tools)
    return [
        tool
        for tool, (clients, *_) in zip(tools, known, strict=True)
        if (clients is None or client.name in clients) and client.allows(tool.name)
    ]


def sections_of_tools(tools: Sequence[ToolSpec], results: Results) -> list[str | None]:
    """The section of each tool."""
    return values_of(results, SECTION, tools)
