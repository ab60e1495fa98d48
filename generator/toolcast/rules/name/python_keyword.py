"""`name/python-keyword`."""

from __future__ import annotations

from collections.abc import Iterator

from ...encoders.python import is_keyword_argument
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import handler_code
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        code = handler_code(workspace, toolset, tool)
        signature = code.signature if code else None
        if signature and code and (signature.takes_any or code.takes_mapping(tool)):
            continue
        for name in tool.properties:
            if not is_keyword_argument(name):
                yield RULE.at(
                    tool,
                    ("parameters", "properties", name),
                    f"no Python function can have a parameter `{name}`",
                    "let the handler take one mapping, or choose another name",
                    at_key=True,
                )


RULE = Rule(
    id="name/python-keyword",
    severity=Severity.NOTE,
    purpose="Checks that handlers in Python can have the parameters by their names.",
    why=(
        "A handler for `from` or `page-size` has to take all arguments as one mapping, which"
        " type checkers help with less."
    ),
    bad="""\
parameters:
  type: object
  properties: {from: {type: string}}
# handler: still to be written
""",
    good="""\
# note.yaml
parameters:
  type: object
  properties: {from: {type: string}}
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(arguments): ...
""",
    check=check,
)
