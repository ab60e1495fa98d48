"""`handler/undeclared-parameter`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import handler_code
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        code = handler_code(workspace, toolset, tool)
        if code is None or code.signature is None or code.takes_mapping(tool):
            continue
        declared = tool.schemas["parameters"].declared
        # One without a default is found by `handler/signature`.
        for name in declared.lacks(code.signature.optional):
            yield RULE.at(
                tool,
                ("handler",),
                f"the handler has a parameter `{name}` that the schema does not declare"
                f" ({code.place})",
                did_you_mean(name, sorted(declared.names))
                or "no caller can give it: declare it in `parameters`, or let the handler"
                " have it in another way",
            )
        if tool.parameters.get("additionalProperties", False) is not False:
            yield RULE.at(
                tool,
                ("parameters", "additionalProperties"),
                "the schema lets in parameters that it does not name, and a handler that"
                f" takes keywords is never given one ({code.place})",
                "let the handler take one mapping, or write `additionalProperties: false`",
                at_key=True,
            )


RULE = Rule(
    id="handler/undeclared-parameter",
    severity=Severity.WARNING,
    purpose="Checks that a handler takes no parameters but those that the schema declares.",
    why=(
        "`db=None` and `is_admin=False` were meant for tests; a model that sent them had them."
        " The runtime gives a function only what the schema declares, whatever"
        " `additionalProperties` says, so that such a parameter is never set."
    ),
    bad="""\
# note.yaml
parameters: {type: object, properties: {text: {type: string}}}
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(text="", is_admin=False): ...
""",
    good="""\
# note.yaml
parameters: {type: object, properties: {text: {type: string}}}
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(text=""): ...
""",
    check=check,
)
