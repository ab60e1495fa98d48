"""Graded changes of the schemas in `parameters` and `returns` of a tool."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

from toolcast_runtime.core.validation.references import References, walk_objects
from toolcast_runtime.external.listing import (
    find_differences as find_value_differences,
)

from ...model.model import Toolset, ToolSpec
from ...suggestions import format_first, format_path
from ...targets.tool_types import describe_types
from ..change import ABSENT, Change, Grade, Grades, ToolPair, is_equal_json
from .message_text import ALTERNATIVE, format_value
from .schema_grades import UNPROVED, CallGrade, CallGrader, grade_for_prompt
from .schema_pairs import Difference, Edit, build_root_pair
from .schema_rules import EFFECTS, FIELDS, MESSAGES, RULES, Field
from .schema_version import Acceptor, SchemaVersion
from .schema_walk import (
    SchemaTooLargeError,
    find_differences,
    find_hidden_descriptions,
)

_ROOT_LABELS = {"parameters": "a call", "returns": "a result"}
_SAME_TYPES = "the generated types do not change"
_NO_PYTHON = "safe for code: the tool has no handler and no declared types"
_OTHER_VALUE_TYPE = "the Python type of the handler's values changes"
_NAME_KINDS = (
    "additional-properties-",
    "max-properties-",
    "pattern-property-",
    "property-names-",
    "unevaluated-properties-",
)
"""Kinds of changes that can concern undeclared names."""
_VALUE_TYPE_KINDS = ("format-", "content-encoding-")
_MAX_PATHS = 3
"""Locations of a rewritten schema that a message names."""
_MAX_PATH_LENGTH = 100
"""Characters of such a location."""
_LOCATION_SEPARATORS = (".", "[", "\0")


class CodeGrader:
    """Grades the changes of one field for Python code, by the types generated for it.

    Args:
        before: the old schema.
        after: the new schema.
        value_grade: the grade of a format change that makes the handler's values another
            Python type; safe if the handler gets strings for every format.
        has_python: whether the project has a handler or declared types for the tool.
    """

    def __init__(
        self, before: Any, after: Any, value_grade: Grade, has_python: bool
    ) -> None:
        self._schemas = before, after
        self._value_grade = value_grade
        self._has_python = has_python

    @cached_property
    def _types(self) -> tuple[dict[str, str], dict[str, str]]:
        """The types generated for the old and the new schema, by location."""
        before, after = self._schemas
        has_values = self._value_grade is not Grade.SAFE
        return (
            describe_types(before, has_values=has_values),
            describe_types(after, has_values=has_values),
        )

    def grade(self, difference: Difference, grade: Grade) -> tuple[Grade, str]:
        """Return the grade of a change for code, and the reason if it differs from `grade`.

        A change is safe for code if the project has no Python code for the tool, or if the
        generated types at the location are equal. The reason is empty if `grade` applies.

        Args:
            difference: the change.
            grade: the default grade of its kind.
        """
        if not self._has_python:
            return Grade.SAFE, "" if grade is Grade.SAFE else _NO_PYTHON
        is_value_type = difference.kind.startswith(_VALUE_TYPE_KINDS)
        if is_value_type and self._value_grade is not Grade.SAFE:
            if self._types_differ(difference):
                return self._value_grade, _OTHER_VALUE_TYPE
            return grade, ""
        if grade is Grade.SAFE or EFFECTS[difference.kind] == "none":
            return grade, ""
        is_property = difference.kind.startswith(("property", "required-property"))
        if not difference.pair.location and is_property:
            return grade, ""
        if self._types_differ(difference):
            return grade, ""
        return Grade.SAFE, _SAME_TYPES

    def _types_differ(self, difference: Difference) -> bool:
        """Return whether the generated types differ at the location of a change.

        A differing type at a location that contains the change counts, too.
        """
        before, after = self._types
        location = difference.pair.location.replace(ALTERNATIVE, "")
        if not location:
            return before != after
        for name in before.keys() | after.keys():
            differs = before.get(name) != after.get(name)
            if differs and _contains_location(name, location):
                return True
        return before[""] != after[""]


def _contains_location(outer: str, location: str) -> bool:
    """Return whether `location` is equal to `outer`, or nested in it."""
    if location == outer:
        return True
    if not outer or not location.startswith(outer):
        return False
    return location[len(outer)] in _LOCATION_SEPARATORS


def compare_tools(tools: ToolPair) -> Iterator[Change]:
    """Yield the changes of `parameters` and `returns` of a tool.

    A schema that is invalid, has a reference without a target, or is too large yields
    one change `not-compared`, which is risky.
    """
    for field in FIELDS:
        old, new = tools.before.schemas.get(field), tools.after.schemas.get(field)
        before = True if old is None else old.value
        after = True if new is None else new.value
        if (old is None) == (new is None) and is_equal_json(before, after):
            continue
        old_is_unusable = old is not None and not old.is_sound
        new_is_unusable = new is not None and not new.is_sound
        if old_is_unusable or new_is_unusable:
            if old_is_unusable and new_is_unusable:
                reason = "both schemas are invalid or have references without a target"
            else:
                version = "old" if old_is_unusable else "new"
                reason = f"the {version} schema is invalid or has a reference without a target"
            yield _make_not_compared(tools, field, before, after, reason)
            continue
        try:
            is_whole = old is None or new is None
            yield from _compare_field(tools, field, before, after, is_whole)
        except SchemaTooLargeError:
            reason = "they have too many locations to compare"
            yield _make_not_compared(tools, field, before, after, reason)


def _compare_field(
    tools: ToolPair, field: Field, before: Any, after: Any, is_whole: bool
) -> Iterator[Change]:
    """Yield the changes of one field.

    Args:
        tools: the old and the new tool.
        field: the field.
        before: the old schema; True if there was none.
        after: the new schema; True if there is none.
        is_whole: whether the schema as a whole was added or removed.
    """
    is_call = field == "parameters"
    # The runtime validates formats only in arguments.
    old_version = SchemaVersion(
        before, asserts_formats=is_call and tools.toolset_before.asserts_formats
    )
    new_version = SchemaVersion(
        after, asserts_formats=is_call and tools.toolset_after.asserts_formats
    )
    versions = old_version, new_version
    root_label = _ROOT_LABELS[field]
    if is_whole:
        kind = "schema-added" if before is True else "schema-removed"
        differences = [_make_root_difference(*versions, field, kind)]
    else:
        differences = find_differences(*versions, root_label)
        differences += find_hidden_descriptions(*versions, differences, root_label)
    # The schemas are not equal: without a difference, one is only written differently.
    differences = differences or [_make_rewritten(*versions, field)]
    old_acceptor = Acceptor(
        old_version,
        is_closed=is_call,
        rejects_value=_build_action_check(tools) if is_call else None,
    )
    # Without a handler of the project, only the schema can reject undeclared arguments.
    has_handler = _has_handler(tools.toolset_after, tools.after)
    new_acceptor = Acceptor(new_version, is_closed=is_call and has_handler)
    call_grader = CallGrader(field, old_acceptor, new_acceptor, differences)
    open_grader = call_grader
    if is_call and not _has_handler(tools.toolset_before, tools.before):
        # Without a handler, the old version accepted arguments that it did not declare.
        acceptor = Acceptor(old_version, is_closed=False)
        open_grader = CallGrader(field, acceptor, new_acceptor, differences)
    code_grader = CodeGrader(
        before, after, _grade_value_types(tools, field), _has_python(tools)
    )
    for index, difference in enumerate(differences):
        is_about_names = difference.kind.startswith(_NAME_KINDS)
        grade = (open_grader if is_about_names else call_grader).grade(index)
        change = _make_change(tools, field, difference, grade, code_grader)
        if difference.before is ABSENT and difference.path:
            new_definitions = _list_new_definitions(before, after, difference.after)
            change = replace(change, definitions=new_definitions)
        yield change
    # An example that only all changes together reject is reported as one more change.
    combined_grade = call_grader.grade_combination()
    if combined_grade is not None:
        difference = _make_rewritten(*versions, field)
        message = f"`{field}` changes in several locations"
        difference = difference._replace(message=message)
        yield _make_change(tools, field, difference, combined_grade, code_grader)


def _list_new_definitions(before: Any, after: Any, value: Any) -> dict[str, Any]:
    """Return the definitions that an added value refers to and the old schema lacks.

    Definitions to which only these refer are included. The keys are the references.
    """
    old, new = References(before), References(after)
    found: dict[str, Any] = {}
    waiting = [value]
    while waiting:
        for part in walk_objects(waiting.pop()):
            reference = part.get("$ref")
            if not isinstance(reference, str) or reference in found:
                continue
            known = old.resolve_all(reference)
            for target in new.resolve_all(reference):
                is_known = any(is_equal_json(target, schema) for schema in known)
                if target is not after and not is_known:
                    found[reference] = target
                    waiting.append(target)
    return found


def _has_handler(toolset: Toolset, tool: ToolSpec) -> bool:
    """Return whether a function of the project handles the calls of a tool."""
    has_handler = tool.handler is not None or toolset.handlers is not None
    return has_handler and toolset.get_proxy(tool) is None


def _has_python(tools: ToolPair) -> bool:
    """Return whether Python code of the project uses the tool's arguments or results.

    That is a handler, a declared type or a Python value, in either version.
    """
    versions = (
        (tools.toolset_before, tools.before),
        (tools.toolset_after, tools.after),
    )
    return any(
        _has_handler(toolset, tool)
        or tool.arguments_type
        or tool.result_type
        or toolset.has_python_values(tool)
        for toolset, tool in versions
    )


def _grade_value_types(tools: ToolPair, field: Field) -> Grade:
    """Return the grade of a format change that makes the values another Python type.

    Risky if both versions declare a type; breaking if neither does and both convert
    values to Python types; otherwise safe.
    """
    old, new = tools.before, tools.after
    if field == "parameters":
        declared_types = old.arguments_type, new.arguments_type
    else:
        declared_types = old.result_type, new.result_type
    if all(declared_types):
        # A type that the project declares may accept values of both formats, so the change
        # is only risky.
        return Grade.RISKY
    has_python_values = tools.toolset_before.has_python_values(
        old
    ) and tools.toolset_after.has_python_values(new)
    if has_python_values and not any(declared_types):
        return Grade.BREAKING
    return Grade.SAFE


def _make_change(
    tools: ToolPair,
    field: Field,
    difference: Difference,
    call: CallGrade,
    code_grader: CodeGrader,
) -> Change:
    """Return a change with its grades, and reasons for grades that differ from the rule's."""
    rule = RULES[field, difference.kind]
    code, code_reason = code_grader.grade(difference, rule.grades.code)
    prompt, prompt_reason = grade_for_prompt(difference, rule.grades.prompt)
    is_usual = call.grade is rule.grades.call and call.reason not in UNPROVED.values()
    call_reason = "" if is_usual else call.reason
    message = difference.message
    if call.example is not ABSENT:
        example = format_value(call.example)
        if field == "parameters":
            message += f": {example} was valid and is now invalid"
        else:
            message += f": {example} was invalid and is now valid"
    change = tools.files.build_change(
        rule,
        (field, *difference.path),
        message,
        before=difference.before,
        after=difference.after,
        grades=rule.grades._replace(call=call.grade, prompt=prompt, code=code),
        reason="; ".join(filter(None, (call_reason, prompt_reason, code_reason))),
    )
    return replace(change, witness=call.example)


def _make_root_difference(
    before: SchemaVersion, after: SchemaVersion, field: Field, kind: str
) -> Difference:
    """Return a difference of the whole schema."""
    pair = build_root_pair(before, after, _ROOT_LABELS[field])
    values = (
        ABSENT if kind == "schema-added" else before.root,
        ABSENT if kind == "schema-removed" else after.root,
    )
    edit = Edit((), after.root, (), before.root)
    return pair.make_difference(kind, (), values, (edit,), name=field)


def _make_rewritten(
    before: SchemaVersion, after: SchemaVersion, field: Field
) -> Difference:
    """Return the difference of a field whose schema is only written differently.

    The message names the first locations that differ.
    """
    difference = _make_root_difference(before, after, field, "rewritten")
    paths = find_value_differences(before.root, after.root, repr)
    labels = [f"`{format_path((field, *path))[:_MAX_PATH_LENGTH]}`" for path in paths]
    name = format_first(labels, _MAX_PATHS) or f"`{field}`"
    message = MESSAGES["rewritten"].format(name=name)
    return difference._replace(message=message)


def _make_not_compared(
    tools: ToolPair, field: Field, before: Any, after: Any, reason: str
) -> Change:
    message = MESSAGES["not-compared"].format(name=field, reason=reason)
    return tools.files.build_change(
        RULES[field, "not-compared"],
        (field,),
        message,
        before=before,
        after=after,
        grades=Grades(Grade.RISKY, Grade.RISKY, Grade.RISKY, Grade.SAFE),
        reason=reason,
    )


def _build_action_check(tools: ToolPair) -> Callable[[Any], bool] | None:
    """Return a predicate: whether an action of the old tool rejects given arguments.

    None if the tool has no actions. The predicate returns False if the arguments select no
    known action.
    """
    actions = tools.before.actions
    if actions is None:
        return None
    actions_by_name = {action.name: action for action in actions.values}

    def rejects(arguments: Any) -> bool:
        name = arguments.get(actions.parameter) if isinstance(arguments, dict) else None
        action = actions_by_name.get(name) if isinstance(name, str) else None
        if action is None:
            return False
        if any(required not in arguments for required in action.requires):
            return True
        if action.requires_any and not any(
            required in arguments for required in action.requires_any
        ):
            return True
        allowed_names = (actions.parameter, *action.parameters)
        return action.accepts is not None and any(
            argument not in allowed_names for argument in arguments
        )

    return rejects
