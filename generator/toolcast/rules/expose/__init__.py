"""What the rules of the family `expose` share."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding
from ...model.model import Toolset
from ...wording import did_you_mean, quoted_list
from ..rule import Rule

__all__ = ["client_of", "task_support"]


def task_support(
    kind: str, rule: Rule, toolset: Toolset, message: str, help: str
) -> Iterator[Finding]:
    """A finding at each tool of the MCP server with `taskSupport` of a kind."""
    if "mcp" not in toolset.targets:
        return
    for tool in toolset.tools_in("mcp"):
        if (tool.execution or {}).get("taskSupport") == kind:
            path = ("execution", "taskSupport")
            yield rule.at(tool, path, message, help)


def client_of(target: str, rule: Rule, toolset: Toolset) -> Iterator[Finding]:
    """A finding where a target acts for no client, or for one that does not exist."""
    if target not in toolset.targets:
        return
    names = [client.name for client in toolset.clients]
    chosen = toolset.targets[target].get("client")
    if chosen is None and names:
        message = (
            f"the toolset has clients, and `{target}` does not say which one it serves"
        )
        help_ = f"add `client:`, one of {quoted_list(names)}"
        yield rule.at(toolset, ("targets", target), message, help_)
    elif chosen is not None and chosen not in names:
        path = ("targets", target, "client")
        help_ = did_you_mean(str(chosen), names) or "add it to `clients`"
        message = f"the toolset has no client `{chosen}`"
        yield rule.at(toolset, path, message, help_)
