"""Report items of changes: equal changes of several tools become one item."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..diff.change import (
    ABSENT,
    AUDIENCES,
    CONTEXT_CHARACTERS,
    Change,
    Grade,
    Grades,
    cut_middle,
    trim_common_ends,
)
from ..suggestions import format_first
from .item import NO_VALUES, ReportItem

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.verdict import ChangeVerdict, Verdict

_MAX_LOCATIONS_SHOWN = 4
"""Locations of one owner that are listed."""
_MAX_COMPARED_CHARACTERS = 10_000
"""Characters of a change's values that are compared to group equal changes."""
_MAX_TEXT_LINES = 40
"""Lines of the texts of one change."""
_MAX_TEXT_CHARACTERS = 1_500
"""Characters of each of these texts."""
_WITNESS = re.compile(
    r": `[^`]*` (?:was valid and is now invalid|was invalid and is now valid)$"
)
_ENTRY_NOUNS = {
    "prompts": "prompts",
    "resources": "resources",
    "resourceTemplates": "resource templates",
}
"""Nouns for the entries of listings, by the first part of their label."""
_QUOTED_CHARACTERS = 40
"""Characters: a message with so many first characters of a text counts as quoting it."""


def build_change_items(
    changes: Sequence[ChangeVerdict],
    *,
    shows_all: bool = False,
    shows_texts: bool = False,
) -> list[ReportItem]:
    """Build items of changes: failing changes first, then by grades, the worst first.

    Items with the same rule and grades are adjacent. The same change in several tools becomes
    one item, and so do all safe changes of one kind.

    Args:
        changes: the changes with their verdicts.
        shows_all: build an item for each change.
        shows_texts: add the texts of added values.
    """
    toolsets = {judged.change.toolset for judged in changes if judged.change.tool}
    get_label = _tool_label if len(toolsets) == 1 else _owner_label
    by_urgency = sorted(changes, key=_urgency)
    # Order the kinds by their most urgent change, so that changes of a kind are adjacent.
    kind_order: dict[object, int] = {}
    for judged in by_urgency:
        kind_order.setdefault(_change_kind(judged), len(kind_order))
    by_urgency.sort(key=lambda judged: kind_order[_change_kind(judged)])
    if shows_all:
        return [_build_item([j], get_label, shows_texts) for j in by_urgency]
    groups: dict[object, list[ChangeVerdict]] = {}
    counts: Counter[object] = Counter()
    for judged in by_urgency:
        kind = _change_kind(judged)
        identity: object = ""
        if judged.fails or judged.change.grades.worst > Grade.SAFE:
            values = format_differing_values(
                _values_not_in_message(judged.change), _MAX_COMPARED_CHARACTERS
            )
            texts = _list_new_texts(judged.change) if shows_texts else ()
            content = _remove_tool_details(judged.change), values, texts
            # Equal changes of the same tool have different locations and become several items.
            counts[kind, content, judged.owner] += 1
            identity = content, counts[kind, content, judged.owner]
        groups.setdefault((kind, identity), []).append(judged)
    return [_build_item(group, get_label, shows_texts) for group in groups.values()]


def _owner_label(judged: ChangeVerdict) -> str:
    return judged.owner


def _tool_label(judged: ChangeVerdict) -> str:
    """Return the tool's name without its toolset, which is the same for all changes."""
    return judged.change.tool or judged.owner


def _urgency(judged: ChangeVerdict) -> tuple[bool, list[int]]:
    return not judged.fails, sorted(-grade for grade in judged.change.grades)


def _change_kind(judged: ChangeVerdict) -> object:
    """Return a key that is equal for changes that the report lists together."""
    change = judged.change
    acceptance_reason = judged.accepted.reason if judged.accepted is not None else ""
    return (
        change.rule.id,
        change.grades,
        change.reason,
        bool(judged.fails),
        acceptance_reason,
    )


def _remove_tool_details(change: Change) -> str:
    """Return a change's message without the tool's name and the example value."""
    message = _WITNESS.sub("", change.message)
    if change.path[:1] in (("parameters",), ("returns",)):
        # In a schema, a name that equals the tool's name is the name of a property.
        return message
    return message.replace(f"`{change.tool}`", "the tool")


def _build_item(
    group: Sequence[ChangeVerdict],
    get_label: Callable[[ChangeVerdict], str],
    shows_texts: bool,
) -> ReportItem:
    first, *others = group
    change = first.change
    message = change.message
    if others:
        witness = _WITNESS.search(message)
        message = _remove_tool_details(change)
        if witness:
            # The example is valid only for the first tool; others have other properties.
            message += f"; in `{get_label(first)}`, {witness[0].removeprefix(': ')}"
    if len({_remove_tool_details(judged.change) for judged in group}) > 1:
        message = ""
    return ReportItem(
        change.rule.id,
        first.severity,
        first.location,
        message,
        change.reason,
        change.fingerprint,
        first.accepted.reason if first.accepted is not None else "",
        owner=get_label(first),
        grades=format_grades(change.grades),
        is_failing=bool(first.fails),
        values=_values_not_in_message(change) if message else NO_VALUES,
        old_location=change.location if change.is_in_old_version else None,
        others=tuple(_list_tools(group, get_label)) if others else (),
        texts=_list_new_texts(change) if shows_texts and message else (),
    )


def _list_new_texts(change: Change) -> tuple[str, ...]:
    """Return the lines of the texts in an added value that the message does not contain.

    Texts in new definitions to which the value refers are included. Each text begins with
    its path in the value, and is cut in the middle if it is long.
    """
    if change.before is not ABSENT:
        return ()
    lines: list[str] = []
    pending: list[tuple[str, Any]] = [("", change.after)]
    pending += [
        (reference.removeprefix("#/").replace("/", "."), definition)
        for reference, definition in change.definitions.items()
    ]
    omitted = 0
    while pending:
        path, value = pending.pop(0)
        if isinstance(value, dict):
            pending += [(f"{path}.{key}".lstrip("."), v) for key, v in value.items()]
        elif isinstance(value, list):
            pending += [(f"{path}[{index}]", item) for index, item in enumerate(value)]
        elif _is_text(value, path) and value not in change.message:
            text = cut_middle(value, _MAX_TEXT_CHARACTERS)
            if len(lines) < _MAX_TEXT_LINES:
                lines += (f"{path}: {text}" if path else text).splitlines()
            else:
                omitted += 1
    return (
        (*lines, f"({omitted} more texts are not shown)") if omitted else tuple(lines)
    )


def _is_text(value: Any, path: str = "") -> bool:
    """Return whether a value is a text for readers rather than an identifier.

    Some languages write sentences without spaces.
    """
    if not isinstance(value, str):
        return False
    is_field = path.rpartition(".")[2] in ("description", "title")
    return is_field or not value.isascii() or any(map(str.isspace, value))


def format_grades(grades: Grades) -> str:
    """Return grades as text: `breaking for call; risky for prompt`, or `safe`."""
    parts = []
    for grade in (Grade.BREAKING, Grade.RISKY):
        audiences = [
            audience
            for audience, audience_grade in zip(AUDIENCES, grades, strict=True)
            if audience_grade is grade
        ]
        if audiences:
            parts.append(f"{grade.label} for {', '.join(audiences)}")
    return "; ".join(parts) or Grade.SAFE.label


def _list_tools(
    group: Sequence[ChangeVerdict], get_label: Callable[[ChangeVerdict], str]
) -> Iterator[str]:
    """Yield a label for each tool of a group of equal changes.

    The label has the changed fields in parentheses if they differ between tools or if there
    are several, and otherwise the fingerprint of a failing change.
    """
    fields_by_tool: dict[str, list[str]] = {}
    fingerprints = {}
    for judged in group:
        label = get_label(judged)
        fields_by_tool.setdefault(label, []).append(_changed_field(judged.change))
        if judged.fails:
            fingerprints[label] = judged.change.fingerprint
    have_same_fields = len({tuple(fields) for fields in fields_by_tool.values()}) == 1
    for label, fields in fields_by_tool.items():
        if (have_same_fields and len(fields) == 1) or not any(fields):
            yield f"{label} {fingerprints.get(label, '')}".rstrip()
        else:
            yield f"{label} ({format_first(fields, _MAX_LOCATIONS_SHOWN)})"


def count_owners(labels: Sequence[str]) -> str:
    """Return the number of the owners of a change: `3 tools`, or `2 prompts`."""
    kinds = {label.partition("/")[0] for label in labels}
    noun = _ENTRY_NOUNS.get(kinds.pop(), "tools") if len(kinds) == 1 else ""
    if not noun:
        noun = "entries" if kinds & _ENTRY_NOUNS.keys() else "tools"
    return f"{len(labels)} {noun}"


def _changed_field(change: Change) -> str:
    """Return the changed parameter, or else the changed field; "" for the tool itself."""
    properties = [
        str(name) for keyword, name in pairwise(change.path) if keyword == "properties"
    ]
    if properties:
        return ".".join(properties)
    return "" if change.path in ((), ("name",)) else str(change.path[-1])


def _values_not_in_message(change: Change) -> tuple[Any, ...]:
    """Return the old and new value; `NO_VALUES` if the message shows the difference."""
    values = change.before, change.after
    has_text = any(map(_is_text, values))
    are_containers = all(isinstance(value, dict | list) for value in values)
    if not (has_text or are_containers):
        # Messages always contain numbers, booleans and single words.
        return NO_VALUES
    old_texts, new_texts = (_collect_texts(value) for value in values)
    differing = old_texts ^ new_texts
    if all(isinstance(value, str) for value in values):
        # A message contains only excerpts of long texts, so compare the excerpts.
        texts = format_differing_values(values, _MAX_COMPARED_CHARACTERS)
        excerpts = (text.strip('"').replace("`", "'") for text in texts)
        is_quoted = all(text in change.message for text in excerpts)
    else:
        is_quoted = all(
            text[:_QUOTED_CHARACTERS] in change.message for text in differing
        )
    return NO_VALUES if is_quoted else values


def _collect_texts(value: Any) -> frozenset[str]:
    """Return the keys, strings and numbers in a value as messages write them."""
    if value is ABSENT:
        return frozenset()
    if isinstance(value, dict):
        return frozenset().union(*map(_collect_texts, value.values()), value)
    if isinstance(value, list | tuple):
        return frozenset().union(*map(_collect_texts, value))
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return frozenset([text.replace("`", "'")])


def format_differing_values(
    values: tuple[Any, ...], max_characters: int
) -> tuple[str, str]:
    """Return the old and new value of an item as JSON, shortened to their difference.

    Args:
        values: the two values, or `NO_VALUES`.
        max_characters: length to which each text is cut in the middle.

    Returns:
        Two texts; "" for an absent value and for `NO_VALUES`.
    """
    old, new = values or (ABSENT, ABSENT)
    old_text, new_text = _encode_value(old), _encode_value(new)
    is_long = max(len(old_text), len(new_text)) > 2 * CONTEXT_CHARACTERS
    if old_text and new_text and is_long:
        old_text, new_text = trim_common_ends(old_text, new_text)
    return cut_middle(old_text, max_characters), cut_middle(new_text, max_characters)


def _encode_value(value: Any) -> str:
    return "" if value is ABSENT else json.dumps(value, ensure_ascii=False)


def group_effects(effects: Sequence[Effect]) -> Iterator[tuple[bool, list[str], str]]:
    """Yield effects with equal messages once, in the order of their first occurrence.

    Each is a tuple: whether the effect is worse, the owners (`toolset/tool`), the message.
    """
    owners_by_effect: dict[tuple[bool, str], list[str]] = {}
    for effect in effects:
        owner = "/".join(filter(None, (effect.toolset, effect.tool)))
        owners_by_effect.setdefault((effect.is_worse, effect.message), []).append(owner)
    for (is_worse, message), owners in owners_by_effect.items():
        yield is_worse, owners, message


def count_by_grade(verdict: Verdict) -> dict[str, dict[str, int]]:
    """Return the number of changes by audience and grade, the worst grade first."""
    return {
        audience: {
            grade.label: sum(
                judged.change.grades[index] is grade for judged in verdict.changes
            )
            for grade in sorted(Grade, reverse=True)
        }
        for index, audience in enumerate(AUDIENCES)
    }


def format_grade_counts(verdict: Verdict) -> dict[str, str]:
    """Return counts by audience as text, such as `2 breaking, 1 risky`.

    The text of an audience is "" if all changes are safe for it.
    """
    return {
        audience: ", ".join(
            f"{count:,} {grade}"
            for grade, count in counts.items()
            if count and grade != Grade.SAFE.label
        )
        for audience, counts in count_by_grade(verdict).items()
    }


def describe_shared_definitions(verdict: Verdict) -> list[tuple[str, str]]:
    """Return each file of shared definitions with a clause on the changes it causes.

    The clause has the number of changed lines, changes and tools.
    """
    changes_by_file: dict[str, list[ChangeVerdict]] = {}
    for judged in verdict.changes:
        if judged.change.is_shared_definition:
            file = judged.change.location.file
            changes_by_file.setdefault(file, []).append(judged)
    return [
        (file, _describe_shared_changes(changes))
        for file, changes in changes_by_file.items()
    ]


def _describe_shared_changes(changes: Sequence[ChangeVerdict]) -> str:
    lines = {(c.change.location.line, c.change.is_in_old_version) for c in changes}
    tools = {judged.owner for judged in changes}
    return (
        f"{len(lines)} changed {'line causes' if len(lines) == 1 else 'lines cause'}"
        f" {len(changes):,} of these changes, in {len(tools):,}"
        f" {'tool' if len(tools) == 1 else 'tools'}"
    )
