"""`schema/unresolved-ref`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.graph import JsonSchema
from ...model.definitions import PREFIX, Definitions, shared_name
from ...model.folders import DEFINITIONS_FILE
from ...model.model import Toolset, Workspace
from ...wording import Suggestions
from ..rule import Rule
from . import is_shared, schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        suggestions: Suggestions | None = None
        for reference in schema.references:
            if not reference.is_local or reference.target is not None:
                continue
            name = shared_name(reference.text)
            is_whole = f"{reference.text}/" == PREFIX and toolset.definitions
            if is_whole or (name is None and is_shared(tool, reference.path)):
                continue  # `schema/definition-reference` says so
            if suggestions is None:
                suggestions = Suggestions(_known(schema, toolset.definitions))
            message = f"`{reference.text[:80]}` names nothing in this schema"
            help_ = suggestions.near(reference.text)
            if name is not None:
                message = f"`{reference.text[:80]}` names no shared definition"
                help_ = help_ or f"write it into {toolset.folder}/{DEFINITIONS_FILE}"
            yield RULE.at(tool, (field, *reference.path), message, help_)


def _known(schema: JsonSchema, shared: Definitions | None) -> Iterator[str]:
    """The references that would name something."""
    for path in schema.subschemas:
        if path[-2:-1] in (("$defs",), ("definitions",)):
            yield "#/" + "/".join(map(str, path))
    if shared is not None:
        yield from (PREFIX + name for name in shared.schemas)


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
