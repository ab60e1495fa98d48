"""Changes as items: over all tools the worst first, and what is the same once."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..diff.change import ABSENT, AUDIENCES, Change, Grade, Grades
from ..suggestions import format_first
from .item import NO_VALUES, Item

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.verdict import ChangeVerdict, Verdict

_AROUND = 24
_MAX_LOCATIONS_SHOWN = 4
"""Locations of one owner that are listed."""
_MAX_COMPARED_VALUES = 10_000
"""Values of a change that are compared to group equal changes."""
_WITNESS = re.compile(
    r": `[^`]*` (?:was accepted and is not any more|can come now and could not before)$"
)
_START = 40
"""A text of which so much stands in a message is said there."""


def items_of_changes(
    changes: Sequence[ChangeVerdict], *, each: bool = False
) -> list[Item]:
    """What has changed, over all tools the worst first: what fails, then by grades.

    Items of one rule and grade stand together. What is the same in many tools is one item,
    and so is what is safe and of one kind.

    Args:
        each: makes an item of each change.
    """
    toolsets = {one.change.toolset for one in changes if one.change.tool}
    named = _label if len(toolsets) == 1 else _owner
    worst_first = sorted(changes, key=_urgency)
    places: dict[object, int] = {}
    for one in worst_first:
        places.setdefault(_kind(one), len(places))
    worst_first.sort(key=lambda one: places[_kind(one)])
    if each:
        return [_item([one], named) for one in worst_first]
    alike: dict[object, list[ChangeVerdict]] = {}
    seen: Counter[object] = Counter()
    for one in worst_first:
        repeated: object = ""
        if one.fails or one.change.grades.worst > Grade.SAFE:
            values = differing(_unsaid(one.change), _MAX_COMPARED_VALUES)
            said = _of_any(one.change), values
            # Two of one tool are two, each with its place.
            seen[_kind(one), said, one.owner] += 1
            repeated = said, seen[_kind(one), said, one.owner]
        alike.setdefault((_kind(one), repeated), []).append(one)
    return [_item(group, named) for group in alike.values()]


def _owner(one: ChangeVerdict) -> str:
    return one.owner


def _label(one: ChangeVerdict) -> str:
    """A tool's name alone, where all of them are of one toolset."""
    return one.change.tool or one.owner


def _urgency(one: ChangeVerdict) -> tuple[bool, list[int]]:
    return not one.fails, sorted(-grade for grade in one.change.grades)


def _kind(one: ChangeVerdict) -> object:
    """What changes have in common that stand together."""
    change = one.change
    accepted = one.accepted.reason if one.accepted is not None else ""
    return change.rule.id, change.grades, change.reason, bool(one.fails), accepted


def _of_any(change: Change) -> str:
    """A change's message without what is its tool's alone: its name, and an example."""
    message = _WITNESS.sub("", change.message)
    if change.path[:1] in (("parameters",), ("returns",)):
        return message  # What is called like the tool there is a property.
    return message.replace(f"`{change.tool}`", "the tool")


def _item(
    group: Sequence[ChangeVerdict], named: Callable[[ChangeVerdict], str]
) -> Item:
    first, *others = group
    change = first.change
    message = _of_any(change) if others else change.message
    if len({_of_any(one.change) for one in group}) > 1:
        message = ""
    return Item(
        change.rule.id,
        first.severity,
        first.location,
        message,
        change.reason,
        change.fingerprint,
        first.accepted.reason if first.accepted is not None else "",
        owner=named(first),
        grades=graded(change.grades),
        fails=bool(first.fails),
        values=_unsaid(change) if message else NO_VALUES,
        was=change.location if change.is_in_old_version else None,
        others=tuple(_listed(group, named)) if others else (),
    )


def graded(grades: Grades) -> str:
    """`breaking for call; risky for prompt`, or `safe`."""
    parts = [
        f"{grade.word} for {', '.join(whom)}"
        for grade in (Grade.BREAKING, Grade.RISKY)
        if (whom := [n for n, g in zip(AUDIENCES, grades, strict=True) if g is grade])
    ]
    return "; ".join(parts) or Grade.SAFE.word


def _listed(
    group: Sequence[ChangeVerdict], named: Callable[[ChangeVerdict], str]
) -> Iterator[str]:
    """The tools of a group, each with what of it has changed where that is not the same."""
    spots: dict[str, list[str]] = {}
    known = {}
    for one in group:
        label = named(one)
        spots.setdefault(label, []).append(_spot(one.change))
        if one.fails:
            known[label] = one.change.fingerprint
    is_same = len({tuple(there) for there in spots.values()}) == 1
    for owner, there in spots.items():
        if (is_same and len(there) == 1) or not any(there):
            yield f"{owner} {known.get(owner, '')}".rstrip()
        else:
            yield f"{owner} ({format_first(there, _MAX_LOCATIONS_SHOWN)})"


def _spot(change: Change) -> str:
    """What of a tool has changed, in a word or two: its parameter, else its field."""
    names = [str(name) for step, name in pairwise(change.path) if step == "properties"]
    if names:
        return ".".join(names)
    return "" if change.path in ((), ("name",)) else str(change.path[-1])


def _unsaid(change: Change) -> tuple[Any, ...]:
    """The values of a change that its message does not say; NO_VALUES where it does."""
    values = change.before, change.after
    has_text = any(isinstance(value, str) and " " in value for value in values)
    has_both = all(isinstance(value, dict | list) for value in values)
    if not (has_text or has_both):
        # What comes or goes as a whole is named, and so is a single word.
        return NO_VALUES
    old, new = (_leaves(value) for value in values)
    is_said = all(leaf[:_START] in change.message for leaf in old ^ new)
    return NO_VALUES if is_said else values


def _leaves(value: Any) -> frozenset[str]:
    """The texts and numbers in a value, as messages say them."""
    if value is ABSENT:
        return frozenset()
    if isinstance(value, dict):
        return frozenset().union(*map(_leaves, value.values()), value)
    if isinstance(value, list | tuple):
        return frozenset().union(*map(_leaves, value))
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return frozenset([text.replace("`", "'")])


def differing(values: tuple[Any, ...], most: int) -> tuple[str, str]:
    """Two values as JSON, empty for ABSENT and for NO_VALUES.

    Of two long texts what they have in common at their ends is cut.
    """
    texts = [
        "" if value is ABSENT else json.dumps(value, ensure_ascii=False)
        for value in values or (ABSENT, ABSENT)
    ]
    if all(texts) and max(map(len, texts)) > 2 * _AROUND:
        texts = list(_without_common(*texts))
    return _cut(texts[0], most), _cut(texts[1], most)


def _without_common(one: str, other: str) -> tuple[str, str]:
    shortest = min(len(one), len(other))
    head = next((i for i in range(shortest) if one[i] != other[i]), shortest)
    rest = shortest - head
    tail = next((i for i in range(rest) if one[-1 - i] != other[-1 - i]), rest)
    return _window(one, head, tail), _window(other, head, tail)


def _window(text: str, head: int, tail: int) -> str:
    """The text from a little before what differs to a little behind it, in whole words."""
    start, end = max(0, head - _AROUND), len(text) - max(0, tail - _AROUND)
    if start:
        start = text.find(" ", start, head) + 1 or start
    if end < len(text):
        behind = text.rfind(" ", len(text) - tail, end)
        end = behind if behind > 0 else end
    return (
        f"{'... ' if start else ''}{text[start:end]}{' ...' if end < len(text) else ''}"
    )


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = (most - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def alike_effects(
    effects: Sequence[Effect],
) -> Iterator[tuple[bool, list[str], str]]:
    """Whether an effect is worse, whose it is, and its message: what is the same once."""
    found: dict[tuple[bool, str], list[str]] = {}
    for one in effects:
        found.setdefault((one.is_worse, one.message), []).append(
            "/".join(filter(None, (one.toolset, one.tool)))
        )
    for (is_worse, message), whose in found.items():
        yield is_worse, whose, message


def counts(verdict: Verdict) -> dict[str, dict[str, int]]:
    """How many changes have each grade, by audience, the worst grade first."""
    return {
        audience: {
            grade.word: sum(
                one.change.grades[index] is grade for one in verdict.changes
            )
            for grade in sorted(Grade, reverse=True)
        }
        for index, audience in enumerate(AUDIENCES)
    }


def counts_in_words(verdict: Verdict) -> dict[str, str]:
    """`2 breaking, 1 risky` by audience; empty where all is safe."""
    return {
        audience: ", ".join(
            f"{n:,} {word}" for word, n in grades.items() if n and word != "safe"
        )
        for audience, grades in counts(verdict).items()
    }


def from_definitions(verdict: Verdict) -> list[tuple[str, str]]:
    """What is told once of changes of shared definitions: the file, and words behind it."""
    found: dict[str, list[ChangeVerdict]] = {}
    for one in verdict.changes:
        if one.change.is_shared_definition:
            found.setdefault(one.change.location.file, []).append(one)
    return [(file, _told_once(changes)) for file, changes in found.items()]


def _told_once(changes: Sequence[ChangeVerdict]) -> str:
    lines = len(
        {(one.change.location.line, one.change.is_in_old_version) for one in changes}
    )
    tools = len({one.owner for one in changes})
    return (
        f"{lines} changed {'line makes' if lines == 1 else 'lines make'}"
        f" {len(changes):,} of these changes, in {tools:,}"
        f" {'tool' if tools == 1 else 'tools'}"
    )
