"""`handler/not-own`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import HandlerReference, Toolset, Workspace
from ...python_code.handler import HandlerCode, function_code
from ...reading.tree import Path
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in (*toolset.tools, *toolset.mcp_specs):
        if tool.handler is None:
            continue
        code = function_code(workspace, toolset, tool.handler)
        if code is not None and code.foreign:
            message = _message(toolset, tool.handler, code)
            yield RULE.at(tool, ("handler",), message, _HELP)
    named: list[tuple[Path, HandlerReference]] = []
    if "sink" in toolset.ledger:
        sink = HandlerReference.parse(toolset.ledger["sink"])
        named.append((("ledger", "sink"), sink))
    if toolset.lifespan is not None:
        named.append((("lifespan",), toolset.lifespan))
    for path, reference in named:
        code = function_code(workspace, toolset, reference)
        if code is not None and code.foreign:
            yield RULE.at(toolset, path, _message(toolset, reference, code), _HELP)


_HELP = (
    "name a `def` or a `class` of that package, or what a call of one gives; one that is"
    " written there may call what is imported"
)


def _message(toolset: Toolset, named: HandlerReference, code: HandlerCode) -> str:
    return (
        f"`{named.function}` is not seen to be defined in `{toolset.handlers}`: it"
        f" {code.foreign}"
    )


RULE = Rule(
    id="handler/not-own",
    severity=Severity.ERROR,
    purpose="Checks that what specs name as handlers is defined in the package of handlers.",
    why=(
        "A module of handlers imports much: a spec that named what it imports made `getoutput`"
        " of `subprocess` a tool, and a model held a shell. The text is followed through imports"
        " within the package; a name that is conditional has to be the package's own in every"
        " branch. The runtime asks the live function for its module as well."
    ),
    bad="""\
# note.yaml
handler: handlers.notes:getoutput
parameters: {type: object, properties: {cmd: {type: string}}}
# toolset.yaml
handlers: handlers
# handlers/notes.py
from subprocess import getoutput
def note(): return getoutput("date")
""",
    good="""\
# note.yaml
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
from .storing import store as note
# handlers/storing.py
def store(): ...
# handlers/__init__.py
""",
    check=check,
    can_be_suppressed=False,
)
