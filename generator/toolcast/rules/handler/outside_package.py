"""`handler/outside-package`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import handler_module, is_below
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    meant: str | None = None
    for tool in (*toolset.tools, *toolset.mcp_specs):
        if tool.handler is None:
            continue
        if toolset.handlers is None:
            package = tool.handler.module.split(".")[0]
            message = "the toolset does not say which package handlers come from"
            help_ = f"add `handlers: {package}` to toolset.yaml"
        elif not is_below(tool.handler.module, toolset.handlers):
            message = f"`{tool.handler.module}` is not below `{toolset.handlers}`"
            help_ = "the toolset's `handlers` is the only package that specs may name"
            if meant is None:
                meant = _meant(toolset, workspace, toolset.handlers)
            help_ += f"; {meant}" if meant else ""
        else:
            continue
        yield RULE.at(tool, ("handler",), message, help_)


def _meant(toolset: Toolset, workspace: Workspace, package: str) -> str:
    """What the toolset's package was probably meant to be, where no handler is below it."""
    modules = [tool.handler.module for tool in toolset.tools if tool.handler]
    if any(is_below(module, package) for module in modules):
        return ""
    own = (name for name in modules if handler_module(workspace, name) is not None)
    parts = [name.split(".") for name in own]
    packages = dict.fromkeys(
        ".".join(names[:count]) for names in parts for count in range(1, len(names) + 1)
    )
    suggestion = did_you_mean(package, packages)
    return f"in toolset.yaml, {suggestion}" if suggestion else ""


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
