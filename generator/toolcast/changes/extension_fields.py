"""Changes of fields that an extension brings, and that no family of its own looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .change import ABSENT, Change, Grade, Grades, SpecFiles, files_of
from .family import Family, Rules
from .json_equality import same
from .json_values import said
from .life.tool_life import Matched

__all__ = ["FAMILY", "changes_of_extensions"]

_R = Grade.RISKY

RULES = Rules()
FIELD = RULES.alone(
    "extension/field",
    "A field of an extension has another value; the extension does not say what that means.",
    Grades(_R, _R, _R, _R),
)
FAMILY = Family(rules=RULES)
"""What `changes_of_extensions` finds."""


def changes_of_extensions(
    matched: Matched, families: Iterable[Family]
) -> Iterator[Change]:
    """The changes of those fields, so that none is passed over."""
    listed = list(families)
    tool, toolset = (
        {field.partition(".")[0] for one in listed for field in one.fields(side)}
        for side in ("tool", "toolset")
    )
    for old, new in matched.toolsets:
        files = files_of(old, new)
        yield from _changes(files, old.extensions, new.extensions, toolset)
    for both in matched.tools:
        if both.before is not both.after:
            values = both.before.extensions, both.after.extensions
            yield from _changes(both.files, *values, tool)


def _changes(
    files: SpecFiles, old: Mapping[str, Any], new: Mapping[str, Any], known: set[str]
) -> Iterator[Change]:
    for field in dict.fromkeys((*new, *old)):
        before, after = old.get(field, ABSENT), new.get(field, ABSENT)
        if field not in known and not same(before, after):
            message = f"the extension's field {said(field)} has another value"
            yield files.changed(FIELD, (field,), message, before, after)
