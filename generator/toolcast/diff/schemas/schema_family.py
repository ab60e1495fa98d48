"""The family of the changes of `parameters` and `returns`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from ...model.model import Toolset, ToolSpec
from ...targets.tool_types import describe_types
from ..change import ABSENT, Change, Grade, Grades, ToolPair, is_equal_json
from .schema_grades import CallGrades, Verdict, prompt_grade
from .schema_pairs import ONE_OF, Difference, Edit, shown, whole_pair
from .schema_rules import EFFECTS, FIELDS, RULES, SAYS, Field
from .schema_version import Acceptor, SchemaSide
from .schema_walk import (
    SchemaTooLargeError,
    differences,
    hidden_texts,
)

_SAME = "the generated types stay the same"
_NO_PYTHON = "safe for code: the tool has no handler and no declared types"
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
        has_python: whether a handler or a declared type is concerned.
    """

    def __init__(
        self, before: Any, after: Any, values: Grade, has_python: bool
    ) -> None:
        self._schemas = before, after
        self._values = values
        self._has_python = has_python

    @cached_property
    def _types(self) -> tuple[dict[str, str], dict[str, str]]:
        before, after = self._schemas
        has_values = self._values is not Grade.SAFE
        return (
            describe_types(before, has_values=has_values),
            describe_types(after, has_values=has_values),
        )

    def grade(self, change: Difference, grade: Grade) -> tuple[Grade, str]:
        """What a change means for code, and why that is not what its rule says."""
        if not self._has_python:
            return Grade.SAFE, "" if grade is Grade.SAFE else _NO_PYTHON
        if change.row.startswith(_VALUES) and self._values is not Grade.SAFE:
            return (
                (self._values, _OTHER_VALUES) if self._differ(change) else (grade, "")
            )
        if grade is Grade.SAFE or EFFECTS[change.row] == "none":
            return grade, ""
        is_of_property = change.row.startswith(("property", "required-property"))
        if not change.pair.location and is_of_property:
            return grade, ""
        return (grade, "") if self._differ(change) else (Grade.SAFE, _SAME)

    def _differ(self, change: Difference) -> bool:
        """Whether the types do where the change is."""
        before, after = self._types
        place = change.pair.location.replace(ONE_OF, "")
        if not place:
            return before != after
        for name in before.keys() | after.keys():
            is_it = place == name or (name and place.startswith(name))
            is_it = is_it and place[len(name) : len(name) + 1] in ("", *_AFTER_NAME)
            if is_it and before.get(name) != after.get(name):
                return True
        return before[""] != after[""]


_WHOLE = {"parameters": "a call", "returns": "a result"}


def compare(both: ToolPair) -> Iterator[Change]:
    """The changes of both schemas of a tool."""
    for field in FIELDS:
        old, new = both.before.schemas.get(field), both.after.schemas.get(field)
        before = True if old is None else old.value
        after = True if new is None else new.value
        if (old is None) == (new is None) and is_equal_json(before, after):
            continue
        unsound = [
            name
            for name, schema in (("before", old), ("after", new))
            if schema is not None and not schema.is_sound
        ]
        if unsound:
            why = (
                f"the schema {' and '.join(unsound)} is not valid or cannot be followed"
            )
            yield _not_compared(both, field, before, after, why)
            continue
        try:
            yield from _of_field(both, field, before, after, old is None or new is None)
        except SchemaTooLargeError:
            why = "there are too many places to compare"
            yield _not_compared(both, field, before, after, why)


def _of_field(
    both: ToolPair, field: Field, before: Any, after: Any, is_whole: bool
) -> Iterator[Change]:
    is_call = field == "parameters"
    asserted = both.toolset_before.asserts_formats, both.toolset_after.asserts_formats
    sides = (
        SchemaSide(before, asserts_formats=is_call and asserted[0]),
        SchemaSide(after, asserts_formats=is_call and asserted[1]),
    )
    if is_whole:
        row = "schema-added" if before is True else "schema-removed"
        changes = [_whole(*sides, field, row)]
    else:
        changes = differences(*sides, _WHOLE[field])
        changes += hidden_texts(*sides, changes, _WHOLE[field])
    changes = changes or [_whole(*sides, field, "rewritten")]
    actions = _actions(both) if is_call else None
    is_ours = _has_handler(both.toolset_after, both.after)
    takers = (
        Acceptor(sides[0], is_closed=is_call, refuses_besides=actions),
        # What no handler of ours answers refuses only what its schema does.
        Acceptor(sides[1], is_closed=is_call and is_ours),
    )
    calls = CallGrades(field, *takers, changes)
    types = TypeChanges(before, after, _values(both, field), _has_python(both))
    for index, change in enumerate(changes):
        yield _graded(both, field, change, calls.of(index), types)
    left = calls.unexplained()
    if left is not None:
        change = _whole(*sides, field, "rewritten")
        yield _graded(both, field, change, left, types)


def _has_handler(toolset: Toolset, tool: ToolSpec) -> bool:
    """Whether a function of the project answers the calls of a tool."""
    has = tool.handler is not None or toolset.handlers is not None
    return has and toolset.proxy_of(tool) is None


def _has_python(both: ToolPair) -> bool:
    """Whether Python of the project takes the tool's arguments or gives its results."""
    sides = (both.toolset_before, both.before), (both.toolset_after, both.after)
    return any(
        _has_handler(toolset, tool)
        or tool.arguments_type
        or tool.result_type
        or toolset.has_python_values(tool)
        for toolset, tool in sides
    )


def _values(both: ToolPair, field: Field) -> Grade:
    """What it means for the handler that a format stands for another type of Python's."""
    old, new = both.before, both.after
    if field == "parameters":
        classes = old.arguments_type, new.arguments_type
    else:
        classes = old.result_type, new.result_type
    if all(classes):
        # Its class may take both.
        return Grade.RISKY
    are_given = both.toolset_before.has_python_values(old)
    are_given = are_given and both.toolset_after.has_python_values(new)
    return Grade.BREAKING if are_given and not any(classes) else Grade.SAFE


def _graded(
    both: ToolPair, field: Field, change: Difference, call: Verdict, types: TypeChanges
) -> Change:
    rule = RULES[field, change.row]
    code, code_reason = types.grade(change, rule.grades.code)
    grades = rule.grades._replace(call=call.grade, code=code)
    message = change.message
    if call.example is not ABSENT:
        example = shown(call.example)
        if field == "parameters":
            message += f": {example} was accepted and is not any more"
        else:
            message += f": {example} can come now and could not before"
    is_usual = call.grade is rule.grades.call
    prompt, prompt_reason = prompt_grade(change, rule.grades.prompt)
    grades = grades._replace(prompt=prompt)
    reasons = ["" if is_usual else call.reason, prompt_reason, code_reason]
    made = both.files.build_change(
        rule,
        (field, *change.path),
        message,
        before=change.before,
        after=change.after,
        grades=grades,
        reason="; ".join(filter(None, reasons)),
    )
    return replace(made, witness=call.example)


def _whole(before: SchemaSide, after: SchemaSide, field: Field, row: str) -> Difference:
    """A schema that one side does not have, or that is another one in a way not told."""
    pair = whole_pair(before, after, _WHOLE[field])
    values = (
        ABSENT if row == "schema-added" else before.root,
        ABSENT if row == "schema-removed" else after.root,
    )
    edit = Edit((), after.root, (), before.root)
    return pair.told(row, (), values, (edit,), name=field)


def _not_compared(
    both: ToolPair, field: Field, before: Any, after: Any, why: str
) -> Change:
    rule = RULES[field, "not-compared"]
    text = SAYS["not-compared"].format(name=field, why=why)
    risky = Grades(Grade.RISKY, Grade.RISKY, Grade.RISKY, Grade.SAFE)
    return both.files.build_change(
        rule, (field,), text, before=before, after=after, grades=risky, reason=why
    )


def _actions(both: ToolPair) -> Callable[[Any], bool] | None:
    """What the chosen action refused before, beside the schema."""
    actions = both.before.actions
    if actions is None:
        return None
    by_name = {action.name: action for action in actions.values}

    def refuses(value: Any) -> bool:
        chosen = value.get(actions.parameter) if isinstance(value, dict) else None
        action = by_name.get(chosen) if isinstance(chosen, str) else None
        if action is None:
            return False
        if any(name not in value for name in action.requires):
            return True
        if action.requires_any and not any(n in value for n in action.requires_any):
            return True
        return action.accepts is not None and any(
            name not in (actions.parameter, *action.parameters) for name in value
        )

    return refuses
