"""Whether a change of a schema changes the types that are generated from it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ...targets.tool_types import shown_types
from ..change import Grade
from .schema_rules import EFFECTS, Field
from .walk.paired_nodes import Difference

__all__ = ["TypeChanges"]

_SAME = "the generated types stay the same"
_AFTER_NAME = (".", "[", "\0")


class TypeChanges:
    """The generated types of a field, before and after.

    Args:
        field: whose schema it is.
        before: the old schema.
        after: the new one.
    """

    def __init__(self, field: Field, before: Any, after: Any) -> None:
        self._field = field
        self._schemas = before, after

    @cached_property
    def _types(self) -> tuple[dict[str, str], dict[str, str]]:
        before, after = self._schemas
        return shown_types(before), shown_types(after)

    def grade(self, change: Difference, grade: Grade) -> tuple[Grade, str]:
        """What a change means for code, and why that is not what its rule says."""
        if grade is Grade.SAFE or EFFECTS[change.row] == "none":
            return grade, ""
        before, after = self._types
        place = change.pair.place
        if not place and not change.row.startswith(("property", "required-property")):
            return (grade, "") if before != after else (Grade.SAFE, _SAME)
        if not place:
            return grade, ""
        for name in before.keys() | after.keys():
            is_it = place == name or (name and place.startswith(name))
            is_it = is_it and place[len(name) : len(name) + 1] in ("", *_AFTER_NAME)
            if is_it and before.get(name) != after.get(name):
                return grade, ""
        if before[""] != after[""]:
            return grade, ""
        return Grade.SAFE, _SAME
