"""`schema/wider-type`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...facts.types.schema_types import SchemaTypes, Widening
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        # Where nobody writes a handler nobody reads its types.
        if tool.handler is None:
            continue
        for field, schema in (
            ("parameters", tool.parameters),
            ("returns", tool.returns),
        ):
            if not isinstance(schema, dict) or not tool.schemas[field].is_sound:
                continue
            places = {id(s): p for p, s in tool.schemas[field].subschemas.items()}
            for wider in _widened(schema, field):
                path = (field, *places.get(id(wider.schema), ()), wider.keyword)
                yield RULE.at(
                    tool,
                    path,
                    f"`{wider.keyword}` is more than the generated type says",
                    "nothing is wrong: calls are checked, and a type checker does not see it",
                    at_key=True,
                )


def _widened(schema: Any, field: str) -> Sequence[Widening]:
    types = SchemaTypes(schema, "Types")
    if field == "parameters":
        types.arguments("Types")
    else:
        types.whole("Types")
    return types.widened


RULE = Rule(
    id="schema/wider-type",
    severity=Severity.NOTE,
    purpose="Checks that a generated type says all that its schema says.",
    why=(
        "A type checker found nothing, and the call was refused: what `if`, `not` and some"
        " combinations say cannot be said by types. The place has a comment in the generated"
        " module, too."
    ),
    bad="""\
# note.yaml
parameters:
  type: object
  properties: {text: {type: string, not: {const: none}}}
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(text: str = ""): ...
""",
    good="""\
# note.yaml
parameters:
  type: object
  properties: {text: {type: string, minLength: 1}}
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(text: str = ""): ...
""",
    check=check,
)
