"""What outputs of many tools know of each tool, so that they need not ask the tools."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..output.results import Piece, Results, values_of
from ..spec.model import Client, ToolSpec

__all__ = ["ACROSS", "offered", "sections_of_tools"]


def _text(tool: ToolSpec) -> str:
    return json.dumps([tool.clients, tool.section, tool.renamed_from, tool.persistent])


ACROSS = Piece("across", _text)
"""To whom a tool is offered, its section, its former names, whether it is persistent."""


def offered(
    tools: Sequence[ToolSpec], client: Client, results: Results
) -> Sequence[ToolSpec]:
    """The tools that a client may see and call, as `Toolset.is_offered` says it."""
    known = values_of(results, ACROSS, tools)
    return [
        tool
        for tool, (clients, *_) in zip(tools, known, strict=True)
        if (clients is None or client.name in clients) and client.allows(tool.name)
    ]


def sections_of_tools(tools: Sequence[ToolSpec], results: Results) -> list[str | None]:
    """The section of each tool."""
    return [section for _, section, *_ in values_of(results, ACROSS, tools)]
