"""`prompt/description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        is_given = "description" in tool.fields
        if is_given and not (tool.description or "").strip():
            said = "null" if tool.description is None else "empty"
            yield RULE.at(
                tool,
                ("description",),
                f"the description is {said}",
                "say what the tool does; without the field the summary is used",
            )
        elif "description" in tool.mcp_omit:
            yield RULE.at(
                tool,
                ("mcp", "omit"),
                "the MCP list leaves the description out",
                "models that see the tool over MCP know it by its name alone",
            )


RULE = Rule(
    id="prompt/description-missing",
    severity=Severity.WARNING,
    purpose="Checks that every tool has a description wherever models see it.",
    why="A model chooses by the description. Without one it guesses from the name.",
    bad="""\
description: null
""",
    good="""\
description: Stores a note. Gives its identifier.
""",
    check=check,
)
