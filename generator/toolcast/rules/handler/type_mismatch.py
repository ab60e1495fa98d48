"""`handler/type-mismatch`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.classes import ClassField, class_fields
from ...python_code.handler import class_code
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        for field, schema in (
            ("arguments_type", tool.parameters),
            ("result_type", tool.returns),
        ):
            reference = getattr(tool, field)
            if reference is None or not isinstance(schema, dict):
                continue
            node = class_code(workspace, toolset, reference)
            fields = class_fields(node) if isinstance(node, ast.ClassDef) else None
            said = schema.get("properties")
            if fields is None or not isinstance(said, dict):
                continue
            compare = _arguments if field == "arguments_type" else _result
            for problem in [*compare(fields, said, schema), *_kinds(fields, said)]:
                message = (
                    f"`{reference.function}` does not agree with the schema: {problem}"
                )
                help_ = "mend one of the two; the schema is what callers are shown"
                yield RULE.at(tool, (field,), message, help_)


def _arguments(
    fields: Mapping[str, ClassField], said: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[str]:
    for name in said:
        if name not in fields:
            yield f"it has no `{name}`, which callers may send"
    needed = schema.get("required", ())
    for name, field in fields.items():
        if field.is_required and name not in needed:
            yield f"it needs `{name}`, which callers need not send"


def _result(
    fields: Mapping[str, ClassField], said: Mapping[str, Any], schema: Mapping[str, Any]
) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in fields:
            yield f"it has no `{name}`, which is required"
    if schema.get("additionalProperties", True) is False:
        for name in fields:
            if name not in said:
                yield f"`{name}` is not in `returns`"


def _kinds(fields: Mapping[str, ClassField], said: Mapping[str, Any]) -> Iterator[str]:
    for name, field in fields.items():
        schema = said.get(name)
        kind = schema.get("type") if isinstance(schema, dict) else None
        if field.kind is None or not isinstance(kind, str) or kind == field.kind:
            continue
        if {kind, field.kind} != {"integer", "number"}:
            yield f"`{name}` is of type {field.kind}, and {kind} in the schema"


RULE = Rule(
    id="handler/type-mismatch",
    severity=Severity.ERROR,
    purpose="Checks that classes of arguments and results have the fields of the schemas.",
    why=(
        "The schema is what callers are shown and held to. A class that lacks one of its"
        " parameters drops what a model sent, and one that needs more refuses valid calls. Only"
        " what the class's text says for certain is compared; the runtime compares the rest when"
        " the tool is first called."
    ),
    bad="""\
# note.yaml
handler: handlers.notes:note
arguments_type: handlers.notes:Note
parameters: {type: object, properties: {text: {type: string}, tags: {type: array}}}
# toolset.yaml
handlers: handlers
# handlers/notes.py
from dataclasses import dataclass
@dataclass
class Note:
    text: str
def note(arguments: Note): ...
""",
    good="""\
# note.yaml
handler: handlers.notes:note
arguments_type: handlers.notes:Note
parameters: {type: object, properties: {text: {type: string}}, required: [text]}
# toolset.yaml
handlers: handlers
# handlers/notes.py
from dataclasses import dataclass
@dataclass
class Note:
    text: str
def note(arguments: Note): ...
""",
    check=check,
)
