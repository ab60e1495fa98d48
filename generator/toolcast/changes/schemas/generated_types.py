"""Whether a change of a schema changes the types that are generated from it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ...targets.tool_types import shown_types
from ..change import Grade
from .schema_rules import EFFECTS
from .walk.paired_nodes import Difference

__all__ = ["TypeChanges"]

_SAME = "the generated types stay the same"
_OTHER_VALUES = "the handler's values are of another type"
_VALUES = ("format-", "content-encoding-")
_AFTER_NAME = (".", "[", "\0")


class TypeChanges:
    """The generated types of a field, before and after.

    Args:
        before: the old schema.
        after: the new one.
        values: what it means for the handler that a format stands for another type: safe
            where it has texts as texts.
    """

    def __init__(self, before: Any, after: Any, values: Grade) -> None:
        self._schemas = before, after
        self._values = values

    @cached_property
    def _types(self) -> tuple[dict[str, str], dict[str, str]]:
        before, after = self._schemas
        has_values = self._values is not Grade.SAFE
        return (
            shown_types(before, has_values=has_values),
            shown_types(after, has_values=has_values),
        )

    def grade(self, change: Difference, grade: Grade) -> tuple[Grade, str]:
        """What a change means for code, and why that is not what its rule says."""
        if change.row.startswith(_VALUES) and self._values is not Grade.SAFE:
            return (
                (self._values, _OTHER_VALUES) if self._differ(change) else (grade, "")
            )
        if grade is Grade.SAFE or EFFECTS[change.row] == "none":
            return grade, ""
        is_of_property = change.row.startswith(("property", "required-property"))
        if not change.pair.place and is_of_property:
            return grade, ""
        return (grade, "") if self._differ(change) else (Grade.SAFE, _SAME)

    def _differ(self, change: Difference) -> bool:
        """Whether the types do where the change is."""
        before, after = self._types
        place = change.pair.place
        if not place:
            return before != after
        for name in before.keys() | after.keys():
            is_it = place == name or (name and place.startswith(name))
            is_it = is_it and place[len(name) : len(name) + 1] in ("", *_AFTER_NAME)
            if is_it and before.get(name) != after.get(name):
                return True
        return before[""] != after[""]
