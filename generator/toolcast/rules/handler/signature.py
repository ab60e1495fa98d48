"""`handler/signature`."""

from __future__ import annotations

from collections.abc import Iterator

from ...encoders.python import is_keyword_argument
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ...python_code.handler import HandlerCode, function_code, handler_code
from ...wording import did_you_mean
from ..rule import Rule
from . import problems_with_resources

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        code = handler_code(workspace, toolset, tool)
        if code is None or code.signature is None:
            continue
        whole = tool.handler and function_code(workspace, toolset, tool.handler)
        problems: list[tuple[str, str]] = []
        if whole and whole.signature is not None:
            problems += problems_with_resources(whole.signature, tool.uses, toolset)
        if not code.takes_mapping(tool):
            problems += _problems(tool, code)
        for message, help_ in problems:
            where = f" ({code.place})"
            yield RULE.at(tool, ("handler",), message + where, help_)


def _problems(tool: ToolSpec, code: HandlerCode) -> Iterator[tuple[str, str]]:
    declared = tool.schemas["parameters"].declared
    known = declared.names
    sent = _always_sent(tool)
    signature = code.signature
    if signature is None:
        return
    for name in signature.positional_only:
        if name not in signature.optional:
            yield (
                f"`{name}` can be given by place only, and arguments come by name",
                "remove the `/` behind it",
            )
    if not signature.takes_any:
        for name in sorted(
            known.difference(signature.names, signature.positional_only)
        ):
            if not is_keyword_argument(name):
                help_ = "let the handler take one mapping, or add `**arguments`"
            else:
                near = [n for n in signature.names if n not in known]
                help_ = did_you_mean(name, near) or f"add `{name}` to the function"
            word = "required parameter" if name in sent else "parameter"
            yield f"the handler has no {word} `{name}`", help_
    for name in signature.names:
        if name in signature.optional or name in sent:
            continue
        if not declared.lacks([name]):
            yield (
                f"the handler needs `{name}`, and a call may leave it out",
                "give it a default, or make it `required` in the schema",
            )
        else:
            yield (
                f"the handler needs `{name}`, which is not a parameter of the tool",
                did_you_mean(name, sorted(known)) or "give it a default, or remove it",
            )


def _always_sent(tool: ToolSpec) -> set[str]:
    """The parameters that every valid call has."""
    sent = set(tool.required)
    parts = tool.parameters.get("allOf")
    for schema in parts if isinstance(parts, list) else ():
        listed = schema.get("required") if isinstance(schema, dict) else None
        if isinstance(listed, list):
            sent.update(name for name in listed if isinstance(name, str))
    if tool.actions is not None and tool.actions.parameter in sent:
        needs = [set(action.requires) for action in tool.actions.values]
        sent |= set.intersection(*needs) if needs else set()
    return sent


RULE = Rule(
    id="handler/signature",
    severity=Severity.ERROR,
    purpose="Checks that the handler can take every call that the schema allows.",
    why=(
        "The spec gained a parameter and the function did not. Each call that used it failed,"
        " and only in production."
    ),
    bad="""\
# note.yaml
parameters:
  type: object
  properties: {text: {type: string}, tag: {type: string}}
  required: [text]
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(text, tags): ...
""",
    good="""\
# note.yaml
parameters:
  type: object
  properties: {text: {type: string}, tag: {type: string}}
  required: [text]
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(text, tag=None): ...
""",
    check=check,
)
