"""What each change of a schema means for who calls the tool, reads its results or its texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ...parsing.tree import Path
from ..change import ABSENT, Grade
from ..text_changes import TextPair, classify_edit
from .examples import examples
from .inclusion import Effort, Inclusion
from .schema_pairs import ONE_OF, Difference
from .schema_rules import RULES, RULES_BY_ID, Field
from .schema_version import Acceptor, SchemaSide
from .value_limits import EXACT

_MAX_STEPS = 1_000
"""Comparison steps for the grades of two schemas."""
_MAX_SEPARATE_EDITS = 40
"""Edits that are graded separately."""
_MAX_SEPARATE_LOCATIONS = 12_000
"""Schema locations times separately graded edits."""
_NOTHING_REFUSED = {
    "parameters": "everything that was accepted still is",
    "returns": "no result can come that could not before",
}
_NOT_READ = {
    "parameters": "it is not refused, and nothing says any more what it is for",
    "returns": "who looks for it may find nothing, or something else",
}
_INEXACT = "not all programs read whole numbers beyond it as they were sent"
_TURNED = "what stands there is what the whole does not accept"
_UNCLEAR = "whether more or less is accepted depends on what stands beside it"
_UNPROVED = {
    "parameters": "it is not proved that all that was accepted still is",
    "returns": "it is not proved that no other results can come",
}
_UNASSERTED = "nothing checks it here, and who does refuses other texts"
_NOT_LISTED = "who checks results by the old schema refuses it, and nobody else"
_GONE = ("property-removed", "required-property-removed", "property-renamed")
_NEW = ("property-added", "required-property-added")
_FORMATS = ("format-set", "format-changed")
_DEPENDENT = frozenset(
    (
        "rewritten property-added required-property-added pattern-property-removed"
        " prefix-item-added prefix-item-removed"
    ).split()
)
"""Changes that go the way of their kind only where nothing beside them says more."""
_UNTOLD = "only by names that the schema leaves open without telling of them"


class Verdict(NamedTuple):
    """What a change means for callers.

    Attributes:
        grade: how bad it is.
        reason: why, where that is not what the rule says.
        example: what shows it; ABSENT for nothing.
    """

    grade: Grade
    reason: str = ""
    example: Any = ABSENT


class CallGrades:
    """Grades the changes of one field: as the table says, unless more is known.

    Args:
        field: whose schema it is.
        before: the old side.
        after: the new side.
        changes: all changes of the field.
    """

    def __init__(
        self,
        field: Field,
        before: Acceptor,
        after: Acceptor,
        changes: Sequence[Difference],
    ) -> None:
        self._field = field
        self._changes = changes
        self._is_call = field == "parameters"
        # Arguments are sent by the old schema and taken by the new one, results the other
        # way round: who still has the old schema reads what the new one lets through.
        sides = (before, after) if self._is_call else (after, before)
        self._sender, self._receiver = sides
        self._effort = Effort(_MAX_STEPS)
        self._known: dict[tuple[int, bool], bool] = {}

    @cached_property
    def _alone(self) -> dict[int, SchemaSide]:
        """What the receiver would be with each change alone, by the change's index."""
        edited = [i for i, change in enumerate(self._changes) if change.edits]
        if len(edited) == 1:
            return dict.fromkeys(edited, self._receiver.side)
        places = len(self._sender.side.places) + 1
        most = min(_MAX_SEPARATE_EDITS, max(2, _MAX_SEPARATE_LOCATIONS // places))
        # Those that may well refuse something are tried first, as long as there is time.
        edited.sort(key=lambda index: -self._usual(index).grade)
        return {index: self._of_alone(self._changes[index]) for index in edited[:most]}

    def _of_alone(self, change: Difference) -> SchemaSide:
        root = self._sender.side.root
        for edit in change.edits:
            if self._is_call:
                root = _edited(root, edit.before_path, edit.alone)
            else:
                root = _edited(root, edit.after_path, edit.undone)
        return SchemaSide(
            _with_definitions(root, self._receiver.side.root),
            asserts_formats=self._receiver.side.asserts_formats,
        )

    def _is_proved(self, side: SchemaSide, *, only_declared: bool = False) -> bool:
        """Whether a schema refuses nothing that is sent, or nothing that was told of."""
        key = (id(side), only_declared)
        if key not in self._known:
            proof = Inclusion(
                self._sender.side, side, self._effort, only_declared=only_declared
            )
            taker = Acceptor(side, is_closed=self._receiver.is_closed)
            self._known[key] = proof.is_proved(self._sender.parts, taker.parts)
        return self._known[key]

    @cached_property
    def _is_harmless(self) -> bool:
        return self._is_proved(self._receiver.side)

    @cached_property
    def _examples(self) -> tuple[dict[int, Any], Any]:
        """What shows each change that is not proved harmless; and what only all show."""
        if self._is_harmless or not self._alone:
            return {}, ABSENT
        left = {i: s for i, s in self._alone.items() if not self._is_proved(s)}
        suspects = [i for i in left if self._usual(i).grade is not Grade.SAFE]
        return examples(self._sender, self._receiver, left, suspects)

    def _usual(self, index: int) -> Verdict:
        """What the table says, which is about what a schema accepts."""
        change = self._changes[index]
        rule = RULES[self._field, change.row]
        usual, direction = rule.grades.call, change.pair.direction
        back = RULES_BY_ID[rule.opposite].grades.call
        if direction < 0 and back is not usual:
            return Verdict(back, _TURNED)
        if direction == 0 and usual < back:
            return Verdict(Grade.RISKY, _UNCLEAR)
        if usual is Grade.SAFE and change.row in _DEPENDENT:
            return Verdict(Grade.RISKY, _UNPROVED[self._field])
        return Verdict(usual)

    def of(self, index: int) -> Verdict:
        """What one change means."""
        change = self._changes[index]
        if not change.edits:
            return Verdict(RULES[self._field, change.row].grades.call)
        alone = self._alone.get(index)
        if self._is_harmless or (alone is not None and self._is_proved(alone)):
            return self._harmless(change)
        found, _ = self._examples
        if change.row in _NEW and _was_closed(change) and not self._is_call:
            return Verdict(Grade.RISKY, _NOT_LISTED)
        if index in found:
            return Verdict(Grade.BREAKING, "an example shows it", found[index])
        sides = filter(None, (self._receiver.side, alone))
        if any(self._is_proved(side, only_declared=True) for side in sides):
            return Verdict(Grade.RISKY, _UNTOLD)
        return self._usual(index)

    def _harmless(self, change: Difference) -> Verdict:
        if change.row in _GONE and not self._is_still_told(change):
            return Verdict(Grade.RISKY, _NOT_READ[self._field])
        is_asserted = self._receiver.side.asserts_formats
        if self._is_call and change.row in _FORMATS and not is_asserted:
            return Verdict(Grade.RISKY, _UNASSERTED)
        limit = change.before if change.after is ABSENT else change.after
        is_limit = change.row.startswith(("minimum-", "maximum-"))
        if is_limit and isinstance(limit, int) and abs(limit) >= EXACT:
            return Verdict(Grade.SAFE, _INEXACT)
        return Verdict(Grade.SAFE, _NOTHING_REFUSED[self._field])

    def _is_still_told(self, change: Difference) -> bool:
        """Whether a property that is gone stands in another part of the same schema."""
        pair = change.pair
        told = pair.after_side.everything(pair.after.original)
        name = change.before if change.row == "property-renamed" else change.path[-1]
        return any(name in part.get("properties", {}) for part in told)

    def unexplained(self) -> Verdict | None:
        """What all changes together refuse, and none of them alone."""
        _, together = self._examples
        if together is ABSENT:
            return None
        return Verdict(Grade.BREAKING, "the changes together refuse it", together)


def prompt_grade(change: Difference, grade: Grade) -> tuple[Grade, str]:
    """What an edit of a text means for models, and why that is not the usual."""
    if not change.row.startswith(("description-", "title-")) or grade is Grade.SAFE:
        return grade, ""
    old, new = (
        "" if one is ABSENT else str(one) for one in (change.before, change.after)
    )
    if change.row.startswith("title-"):
        name = re.split(r"[.\[\0]", change.pair.location.replace(ONE_OF, ""))[-1]
        if _letters(new or old) == _letters(name):
            return Grade.SAFE, "it is the name in other letters"
    kind, words = classify_edit(TextPair(change.path, "it", old, new))
    if kind == "text/restyled":
        return Grade.SAFE, f"it {words}"
    return grade, ""


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _was_closed(change: Difference) -> bool:
    """Whether an object had no other names than those that its schema lists."""
    words = ("additionalProperties", "unevaluatedProperties")
    return any(change.pair.before.get(word) is False for word in words)


def _edited(root: Any, path: Path, value: Any) -> Any:
    """A copy of a schema with another value at a path, made where it is not there."""
    if not path:
        return True if value is ABSENT else value
    step = path[0]
    if isinstance(root, list) and isinstance(step, int):
        copied = list(root)
        if len(path) == 1 and value is ABSENT:
            return copied[:step] + copied[step + 1 :]
        if step >= len(copied):
            copied += [True] * (step + 1 - len(copied))
        copied[step] = _edited(copied[step], path[1:], value)
        return copied
    mapping = dict(root) if isinstance(root, dict) else {}
    if len(path) == 1 and value is ABSENT:
        mapping.pop(str(step), None)
    else:
        mapping[str(step)] = _edited(mapping.get(str(step), {}), path[1:], value)
    return mapping


def _with_definitions(root: Any, other: Any) -> Any:
    """A schema with those definitions of another that it does not have."""
    if not isinstance(root, dict) or not isinstance(other, dict):
        return root
    more = {
        word: {**other[word], **root.get(word, {})}
        for word in ("$defs", "definitions")
        if isinstance(other.get(word), dict)
    }
    return {**root, **more} if more else root
