"""`handler/type-not-own`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import class_code
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        for field in ("arguments_type", "result_type"):
            reference = getattr(tool, field)
            if reference is None:
                continue
            problem = class_code(workspace, toolset, reference)
            if isinstance(problem, str):
                yield RULE.at(
                    tool,
                    (field,),
                    f"`{reference.function}` is no class of the handlers' package: it"
                    f" {problem}",
                    "name a `class` that is written below the toolset's `handlers`",
                )


RULE = Rule(
    id="handler/type-not-own",
    severity=Severity.ERROR,
    purpose="Checks that classes of arguments and results are of the package of handlers.",
    why=(
        "A spec is text that anybody may propose, and to make an instance of a class runs its"
        " code: that of a library is not meant to be run by a caller's arguments. The runtime"
        " asks the live class for its module as well."
    ),
    bad="""\
# note.yaml
handler: handlers.notes:note
arguments_type: handlers.notes:Popen
parameters: {type: object, properties: {args: {type: string}}}
# toolset.yaml
handlers: handlers
# handlers/notes.py
from subprocess import Popen
def note(arguments): return arguments
def run(arguments): return Popen(arguments)
""",
    good="""\
# note.yaml
handler: handlers.notes:note
arguments_type: handlers.notes:Note
parameters: {type: object, properties: {text: {type: string}}}
# toolset.yaml
handlers: handlers
# handlers/notes.py
from dataclasses import dataclass
@dataclass
class Note:
    text: str = ""
def note(arguments: Note): ...
""",
    check=check,
    can_be_suppressed=False,
)
