"""`handler/default`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...encoders.json_text import compact
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...python_code.handler import handler_code
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        code = handler_code(workspace, toolset, tool)
        if code is None or code.signature is None or code.takes_mapping(tool):
            continue
        for name, expression in code.signature.optional.items():
            schema = tool.properties.get(name)
            if not isinstance(schema, dict) or "default" not in schema:
                continue
            try:
                default = ast.literal_eval(expression)
                shown = compact(default)
            except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
                # Not a literal, or one that JSON has not: only the handler knows it.
                continue
            if default is not None and shown != compact(schema["default"]):
                yield RULE.at(
                    tool,
                    ("parameters", "properties", name, "default"),
                    f"the handler's own default of `{name}` is {shown[:60]} ({code.place})",
                    "callers are told the one of the schema; let the handler have the same"
                    " one, or None",
                )


RULE = Rule(
    id="handler/default",
    severity=Severity.WARNING,
    purpose="Checks that a handler's defaults are those of the schema.",
    why=(
        "The handler gets what the caller sent and nothing else. Where the caller relied on"
        " the default that it was shown, another one took effect."
    ),
    bad="""\
# note.yaml
parameters:
  type: object
  properties: {limit: {type: integer, default: 10}}
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(limit=20): ...
""",
    good="""\
# note.yaml
parameters:
  type: object
  properties: {limit: {type: integer, default: 10}}
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(limit=10): ...
""",
    check=check,
)
