"""`letta/no-decision`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast.findings import Finding, Severity
from toolcast.model.model import Toolset, ToolSpec, Workspace
from toolcast.rules.rule import Rule

from ..config import offered_to_letta, settings_of, tool_part
from . import facts_of, has_target

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if not has_target(toolset, workspace):
        return
    excluded = toolset.excluded("letta")
    offered = {tool.name for tool in offered_to_letta(toolset)}
    for tool in toolset.tools:
        facts = facts_of(tool)
        wants = bool(facts.get("attached"))
        if wants and tool.name in excluded:
            message = f"`{tool.name}` is attached, and excluded from `letta`"
            yield _at(tool, ("letta", "attached"), message, "remove one of the two")
        elif wants and tool.name not in offered:
            client = settings_of(toolset).server.client
            whom = f" to the client `{client}`" if client else " to Letta"
            message = f"`{tool.name}` is attached, and not offered{whom}"
            help_ = "offer it to that client, or set `letta.attached: false`"
            yield _at(tool, ("letta", "attached"), message, help_)
        elif not wants and "reason" not in tool_part(toolset, tool):
            path = ("letta",) if "letta" in tool.extensions else ()
            yield _at(
                tool,
                path,
                f"nothing says why `{tool.name}` is not attached to Letta's agents",
                "`letta: {attached: true}`, or `attached: false` with a `reason`",
            )


def _at(tool: ToolSpec, path: tuple[str, ...], message: str, help_: str) -> Finding:
    return RULE.at(tool, path, message, help_)


RULE = Rule(
    id="letta/no-decision",
    severity=Severity.ERROR,
    purpose="Checks that each tool is attached to Letta's agents, or not and why.",
    why=(
        "A tool that is deployed and not attached is the commonest mistake: nothing fails, and"
        " the agent does not have it."
    ),
    bad="""\
cli: {keyword: note}
# toolset.yaml
letta: {server: {url: "http://tools.test/mcp"}, agents: {}}
targets: {mcp: {}, letta: {}}
""",
    good="""\
letta: {attached: false, reason: People keep the notes.}
# toolset.yaml
letta: {server: {url: "http://tools.test/mcp"}, agents: {}}
targets: {mcp: {}, letta: {}}
""",
    check=check,
)
