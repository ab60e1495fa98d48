"""`schema/unresolved-ref`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import Suggestions
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        suggestions: Suggestions | None = None
        for reference in schema.references:
            if not reference.is_local or reference.target is not None:
                continue
            if suggestions is None:
                suggestions = Suggestions(
                    "#/" + "/".join(map(str, path))
                    for path in schema.subschemas
                    if path[-2:-1] in (("$defs",), ("definitions",))
                )
            yield RULE.at(
                tool,
                (field, *reference.path),
                f"`{reference.text[:80]}` names nothing in this schema",
                suggestions.near(reference.text),
            )


RULE = Rule(
    id="schema/unresolved-ref",
    severity=Severity.ERROR,
    purpose="Checks that every `$ref` names a part of its schema.",
    why="Every call fails while it is validated, and clients drop the tool.",
    bad="""\
parameters:
  type: object
  properties:
    user: {$ref: "#/$defs/usr"}
  $defs:
    user: {type: string}
""",
    good="""\
parameters:
  type: object
  properties:
    user: {$ref: "#/$defs/user"}
  $defs:
    user: {type: string}
""",
    check=check,
)
