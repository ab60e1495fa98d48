"""`handler/not-found`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...handler_code.handler import handler_code, handler_module, is_below
from ...model.model import Toolset, ToolSpec, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        problem = _problem(toolset, workspace, tool)
        if problem is not None:
            yield RULE.at(tool, ("handler",), *problem)


def _problem(
    toolset: Toolset, workspace: Workspace, tool: ToolSpec
) -> tuple[str, str] | None:
    reference, package = tool.handler, toolset.handlers
    if reference is None or package is None or not is_below(reference.module, package):
        return None
    module = handler_module(workspace, reference.module)
    if module is None:
        path = reference.module.replace(".", "/") + ".py"
        folders = [source for source in workspace.sources if source != "."]
        where = f" below {', '.join(folders)}" if folders else ""
        return (
            f"there is no module `{reference.module}`",
            f"it is looked for as `{path}`{where}; toolcast.yaml's `sources` says where",
        )
    if module.problem:
        return f"{module.file} cannot be read: {module.problem}", ""
    code = handler_code(workspace, toolset, tool)
    if code is not None and not code.is_found:
        return (
            f"{module.file} has no function `{reference.function}`",
            did_you_mean(reference.function, list(module.functions)),
        )
    return None


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
