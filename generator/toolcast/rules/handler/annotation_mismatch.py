"""`handler/annotation-mismatch`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.types.annotation import Annotations
from ...facts.types.schema_types import SchemaTypes
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ...python_code.handler import HandlerCode, handler_code
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        code = handler_code(workspace, toolset, tool)
        # What is given as another value than JSON is compared by `handler/type-mismatch`.
        if code is None or tool.handler is None:
            continue
        if toolset.has_python_values(tool) or tool.arguments_type:
            continue
        for problem in _problems(tool, code):
            yield RULE.at(
                tool,
                ("handler",),
                f"{problem} (`{tool.handler.function}`, {code.place})",
                "mend the annotation or the schema; the schema is what callers are held to",
            )


def _problems(tool: ToolSpec, code: HandlerCode) -> Iterator[str]:
    signature, module = code.signature, code.source
    if signature is None or module is None or module.tree is None:
        return
    if not code.takes_mapping(tool):
        types = SchemaTypes(tool.parameters, "Arguments")
        given = types.arguments("Arguments")
        annotations = Annotations(module.tree, types.objects)
        for name, node in signature.annotations.items():
            if name in given.members:
                yield from annotations.not_taken(given.members[name].type, node, name)
    if isinstance(tool.returns, dict) and signature.result and not tool.result_type:
        types = SchemaTypes(tool.returns, "Result")
        wanted, _ = types.whole("Result")
        annotations = Annotations(module.tree, types.objects)
        yield from annotations.not_allowed(wanted, signature.result, "the result")


RULE = Rule(
    id="handler/annotation-mismatch",
    severity=Severity.WARNING,
    purpose="Checks that a handler's annotations take and give what the schemas say.",
    why=(
        "The schema let a model send `null`, and the function said `str` and believed it. Only"
        " what the text says for certain is compared, at any depth: Python's own types and the"
        " TypedDicts of the same module. A type checker compares the rest."
    ),
    bad="""\
# note.yaml
parameters:
  type: object
  properties: {text: {type: string}, tags: {type: array, items: {type: string}}}
  required: [text]
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(text: int, tags: list[int] = ()): ...
""",
    good="""\
# note.yaml
parameters:
  type: object
  properties: {text: {type: string}, tags: {type: array, items: {type: string}}}
  required: [text]
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
from collections.abc import Sequence
def note(text: str, tags: Sequence[str] = ()): ...
""",
    check=check,
)
