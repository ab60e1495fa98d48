"""`handler/outside-package`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...handler_code.handler import is_below
from ...model.model import Toolset, Workspace
from ..rule import Rule, at_tool

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds handlers that are not below the toolset's package."""
    for tool in toolset.tools:
        if tool.handler is None:
            continue
        if toolset.handlers is None:
            package = tool.handler.module.split(".")[0]
            message = "the toolset does not say which package handlers come from"
            help_ = f"add `handlers: {package}` to toolset.yaml"
        elif not is_below(tool.handler.module, toolset.handlers):
            message = f"`{tool.handler.module}` is not below `{toolset.handlers}`"
            help_ = "the toolset's `handlers` is the only package that specs may name"
        else:
            continue
        yield at_tool(RULE, tool, ("handler",), message, help_)


RULE = Rule(
    id="handler/outside-package",
    severity=Severity.ERROR,
    purpose="Checks that every handler is below the toolset's package of handlers.",
    why=(
        "A spec is text that anybody may propose. Without this bound `os:system` would be a"
        " handler, and a model would hold a shell."
    ),
    bad="""\
handler: os:system
# toolset.yaml
handlers: handlers
""",
    good="""\
# note.yaml
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(): ...
""",
    check=check,
    can_be_suppressed=False,
)
