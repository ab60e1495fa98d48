"""`schema/required-unknown`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.graph import JsonSchema
from ...json_schema.patterns import pattern
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ...wording import Suggestions
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE", "unknown_names"]

UnknownName = tuple[ToolSpec, Path, str, Suggestions]
"""The tool, the path of a name in `required`, the name, and the near ones."""


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, path, name, suggestions in unknown_names(toolset, permitted=False):
        yield RULE.at(
            tool,
            path,
            f"`required` names `{name}`, which is not a property",
            suggestions.near(name),
        )


def unknown_names(toolset: Toolset, *, permitted: bool) -> Iterator[UnknownName]:
    """Names of `required` that no property has.

    Args:
        toolset: whose tools' schemas are looked at.
        permitted: those that `additionalProperties` or `patternProperties` lets in, or
            those that nothing lets in.
    """
    for tool, field, schema in schemas_of(toolset):
        for path, subschema in schema.subschemas.items():
            # An object without properties of its own may be half of another schema.
            listed = subschema.get("required")
            own = isinstance(subschema.get("properties"), dict) or not path
            if not own or not isinstance(listed, list):
                continue
            known, is_open, patterns = _known(schema, path, field)
            suggestions = Suggestions(known)
            for index, name in enumerate(listed):
                if not isinstance(name, str) or name in known:
                    continue
                lets_in = is_open or any(_matches(text, name) for text in patterns)
                if lets_in == permitted:
                    place = (field, *path, "required", index)
                    yield tool, place, name, suggestions


def _known(
    schema: JsonSchema, path: Path, field: str
) -> tuple[dict[str, None], bool, list[str]]:
    """The properties of an object, whether it is open by its own word, and its patterns."""
    known: dict[str, None] = {}
    patterns: list[str] = []
    # What a caller is not told it cannot send; what a handler gives nobody needs to guess.
    is_open, is_closed = field == "returns", False
    for part in schema.same_value(path):
        if isinstance(part.get("properties"), dict):
            known |= dict.fromkeys(part["properties"])
        if isinstance(part.get("patternProperties"), dict):
            patterns += part["patternProperties"]
        more = part.get("additionalProperties")
        is_open = is_open or more is True or isinstance(more, dict)
        is_closed = is_closed or more is False
    return known, is_open and not is_closed, patterns


def _matches(text: str, name: str) -> bool:
    facts = pattern(text)
    if not facts.is_quick(len(name)):
        return not facts.error
    return re.search(text, name) is not None


RULE = Rule(
    id="schema/required-unknown",
    severity=Severity.ERROR,
    purpose="Checks that every name in `required` is a property of the schema.",
    why=(
        "A call could never be valid: the caller cannot know what the missing parameter is,"
        " and `additionalProperties: false` refuses it."
    ),
    bad="""\
parameters:
  type: object
  properties: {task: {type: string}}
  required: [tsk]
""",
    good="""\
parameters:
  type: object
  properties: {task: {type: string}}
  required: [task]
""",
    check=check,
)
