"""`name/langchain-lost`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.provider_lists import LANGCHAIN_LOSES
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        for name in tool.properties:
            if name in LANGCHAIN_LOSES:
                yield RULE.at(
                    tool,
                    ("parameters", "properties", name),
                    f"the parameter `{name}` does not reach the tool: {LANGCHAIN_LOSES[name]}",
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
