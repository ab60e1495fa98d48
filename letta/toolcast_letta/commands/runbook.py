"""The page of a tool, and the list of the tools, for `toolcast letta runbook`."""

from __future__ import annotations

from toolcast.model.model import Toolset, Workspace
from toolcast.rendering.renderer import render

from ..config import tool_part
from ..runbook import tool_runbook
from ..target import TARGET


def tool_page(workspace: Workspace, toolset: Toolset, name: str) -> str | None:
    """The runbook of a tool, by its present or a former name; None without such a tool."""
    for tool in toolset.tools:
        if name == tool.name or name in tool.renamed_from:
            package = ".".join(filter(None, (workspace.package, toolset.name)))
            view = tool_runbook(toolset, tool, package)
            folders = (TARGET.templates,) if TARGET.templates else ()
            return render("letta/tool_runbook.md.jinja", view, folders).decode("utf-8")
    return None


def tool_list(toolset: Toolset) -> str:
    """A line for each tool: attached, or not and why; ends with a newline."""
    lines = []
    for tool in sorted(toolset.tools, key=lambda tool: tool.name):
        part = tool_part(toolset, tool)
        state = "attached"
        if not part["attached"]:
            reason = " ".join(part.get("reason", "no reason is given").split())
            state = f"not attached: {reason}"
        lines.append(f"{tool.name}: {state}\n")
    return "".join(lines)
