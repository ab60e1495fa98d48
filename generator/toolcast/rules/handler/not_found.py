"""`handler/not-found`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import is_below
from ..rule import Rule
from . import missing_function

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in (*toolset.tools, *toolset.mcp_specs):
        named, package = tool.handler, toolset.handlers
        if named is None or package is None or not is_below(named.module, package):
            continue
        problem = missing_function(workspace, toolset, named)
        if problem is not None:
            yield RULE.at(tool, ("handler",), *problem)


RULE = Rule(
    id="handler/not-found",
    severity=Severity.ERROR,
    purpose="Checks that every handler's module and function are there.",
    why=(
        "A handler is imported when it is first called, so a misspelled one is found by the"
        " first user. The module's text is read for this check; nothing is imported."
    ),
    bad="""\
# note.yaml
handler: handlers.notes:nte
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(): ...
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
