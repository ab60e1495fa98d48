"""Descriptions in schemas that moved, or whose text models still read elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ..parsing.tree import NOWHERE, Path
from ..suggestions import format_path
from .change import ABSENT, Change, Grades, SpecFiles, ToolPair, format_value
from .table import make_change

_SET, _REMOVED = "/description-set", "/description-removed"
"""Suffixes of the ids of rules for added and removed descriptions in schemas."""


def merge_moved_descriptions(
    changes: Sequence[Change], tools: Iterable[ToolPair]
) -> Iterator[Change]:
    """Yield the changes; merge moved descriptions, and grade repeated ones safe.

    A removed and an added description with the same text, for the same parameter, become one
    change `text/moved`. A removed description is safe if the same text remains elsewhere for
    the parameter.

    Args:
        changes: the changes of all tools.
        tools: both versions of each tool.
    """
    tool_pairs = {(pair.toolset_after.name, pair.after.name): pair for pair in tools}
    added, removed = {}, {}
    for change in changes:
        if change.rule.id.endswith(_SET):
            added[_build_description_key(change)] = change
    for change in changes:
        key = _build_description_key(change)
        if change.rule.id.endswith(_REMOVED) and key in added:
            removed[key] = change
    for change in changes:
        key = _build_description_key(change)
        # A moved description is reported once, at the change of its removal.
        if change.rule.id.endswith(_SET) and key in removed:
            continue
        if removed.get(key) is change:
            yield _make_moved_change(change, added[key])
        elif change.rule.id.endswith(_REMOVED) and isinstance(change.before, str):
            yield _grade_removed(change, tool_pairs.get((change.toolset, change.tool)))
        else:
            yield change


def _build_description_key(change: Change) -> tuple[object, ...]:
    """Return a key that is equal for changes of the same text at the same parameter."""
    text = change.after if change.before is ABSENT else change.before
    return change.toolset, change.tool, get_parameter_path(change.path), str(text)


def get_parameter_path(path: Path) -> Path:
    """Return the schema's field and the property names in a schema path.

    `parameters.properties.a.anyOf.0.properties.b` becomes `("parameters", "a", "b")`.
    """
    # Other keywords, such as `anyOf` and its index, do not name a parameter.
    names = (name for keyword, name in pairwise(path) if keyword == "properties")
    return (*path[:1], *names)


def _make_moved_change(removed: Change, added: Change) -> Change:
    files = SpecFiles(removed.toolset, removed.tool, NOWHERE, NOWHERE)
    paths = format_path(removed.path), format_path(added.path)
    change = make_change(files, "text/moved", added.path, *paths)
    return replace(change, location=added.location)


def _grade_removed(change: Change, pair: ToolPair | None) -> Change:
    """Return the change of a removed description, regraded if the text remains.

    It is safe if the same parameter still has the same description at another path;
    otherwise the change is returned unchanged.
    """
    field = change.path[0]
    schema = pair.after.schemas.get(str(field)) if pair is not None else None
    if schema is None:
        return change
    parameter = get_parameter_path(change.path)
    for path, subschema in schema.subschemas.items():
        description_path = (field, *path, "description")
        is_same_text = subschema.get("description") == change.before
        if is_same_text and get_parameter_path(description_path) == parameter:
            location = format_value(format_path(description_path))
            reason = f"models still read the same description at {location}"
            return replace(change, grades=Grades(), reason=reason)
    return change
