"""`name/langchain-lost`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


_LOST = {
    "config": "LangChain's own tools drop it in silence",
    "run_manager": "LangChain's own tools drop it in silence",
    "runtime": "LangChain's MCP adapter drops it in silence",
    "self": "LangChain's own tools fail with it",
    "callbacks": "LangChain's older tools drop it in silence",
}


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        for name in tool.properties:
            if name in _LOST:
                yield RULE.at(
                    tool,
                    ("parameters", "properties", name),
                    f"the parameter `{name}` does not reach the tool: {_LOST[name]}",
                    "choose another name; the generated wrappers are not affected,"
                    " agents that load the tool over MCP are",
                    at_key=True,
                )


RULE = Rule(
    id="name/langchain-lost",
    severity=Severity.WARNING,
    purpose="Checks that no parameter has a name that LangChain takes for its own.",
    why=(
        "Agents that load a server's tools with LangChain's MCP adapter lose the argument"
        " on the way: the call succeeds without it (langchain#40476)."
    ),
    bad="""\
parameters:
  type: object
  properties: {config: {type: object}}
""",
    good="""\
parameters:
  type: object
  properties: {settings: {type: object}}
""",
    check=check,
)
