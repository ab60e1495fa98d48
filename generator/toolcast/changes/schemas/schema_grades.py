"""What each change of a schema means for who calls the tool, or reads its results."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ..change import ABSENT, Grade
from .proof.effort import Effort
from .proof.inclusion import Inclusion
from .schema_rules import EFFECTS, RULES, Field, is_hazard
from .schema_side import SchemaSide
from .search.witness_search import Search, Taker, Witness
from .value_limits import EXACT
from .walk.paired_nodes import Difference

__all__ = ["CallGrades", "Verdict"]

_MOST_EFFORT = 1_000
_MOST_ALONE = 40
_MOST_PLACES_ALONE = 12_000
_NOTHING_REFUSED = {
    "parameters": "everything that was accepted still is",
    "returns": "no result can come that could not before",
}
_NOT_FOUND = {
    "parameters": "no arguments were found that were accepted and are not any more",
    "returns": "no result was found that can come and could not before",
}
_NOT_READ = {
    "parameters": "it is not refused, and nothing says any more what it is for",
    "returns": "who looks for it may find nothing, or something else",
}
_TOO_MANY = "there are too many changes to try each alone"
_INEXACT = "not all programs read whole numbers beyond it as they were sent"
_UNTOLD = "only by names that the schema leaves open without telling of them"


class Verdict(NamedTuple):
    """What a change means for callers.

    Attributes:
        grade: how bad it is.
        reason: why, where that is not what the rule says.
        witness: what shows it; ABSENT for nothing.
    """

    grade: Grade
    reason: str = ""
    witness: Any = ABSENT


class CallGrades:
    """Grades the changes of one field.

    Args:
        field: whose schema it is.
        before: the old side.
        after: the new side.
        changes: all changes of the field.
    """

    def __init__(
        self, field: Field, before: Taker, after: Taker, changes: Sequence[Difference]
    ) -> None:
        self._field = field
        self._changes = changes
        is_forward = field == "parameters"
        # Arguments are sent by the old schema and taken by the new one, results the other
        # way round: who still has the old schema reads what the new one lets through.
        self._sender, self._receiver = (
            (before, after) if is_forward else (after, before)
        )
        self._search = Search(self._sender, self._receiver, is_forward=is_forward)
        self._effort = Effort(_MOST_EFFORT)
        self._known: dict[tuple[int, bool], bool] = {}

    def _is_proved(self, side: SchemaSide, *, only_declared: bool) -> bool:
        """Whether a schema refuses nothing that is sent, or nothing that was told of."""
        key = (id(side), only_declared)
        if key not in self._known:
            proof = Inclusion(
                self._sender.side, side, self._effort, only_declared=only_declared
            )
            taker = Taker(side, is_closed=self._receiver.is_closed)
            self._known[key] = proof.is_proved(self._sender.parts, taker.parts)
        return self._known[key]

    @cached_property
    def _is_harmless(self) -> bool:
        """Whether it is proved that nothing is refused, under whatever name."""
        return self._is_proved(self._receiver.side, only_declared=False)

    @cached_property
    def _alone(self) -> dict[int, SchemaSide]:
        """What the receiver would be with each change alone, by the change's index."""
        edited = [i for i, change in enumerate(self._changes) if change.edits]
        if len(edited) == 1:
            return dict.fromkeys(edited, self._receiver.side)
        places = len(self._sender.side.places) + 1
        most = min(_MOST_ALONE, max(2, _MOST_PLACES_ALONE // places))
        # Those that may well refuse something are tried first, as long as there is time.
        edited.sort(key=lambda index: not self._is_suspect(index))
        return {
            index: self._search.alone(self._changes[index]) for index in edited[:most]
        }

    @cached_property
    def _suspects(self) -> dict[int, SchemaSide]:
        """Those that may refuse something, by the way in which they go."""
        found = {i: side for i, side in self._alone.items() if self._is_suspect(i)}
        return found or self._alone

    def _is_suspect(self, index: int) -> bool:
        change = self._changes[index]
        if is_hazard(self._field, change.row) or not self._are_names_kept:
            return True
        is_other = change.pair.direction != 1 or change.row == "property-added"
        return is_other and EFFECTS[change.row] != "none"

    @cached_property
    def _are_names_kept(self) -> bool:
        """Whether no name is refused at the top that was declared."""
        if not self._receiver.is_closed:
            return True
        before, after = self._sender.side.declared, self._receiver.side.declared
        return before.names <= after.names and {*before.patterns} <= {*after.patterns}

    @cached_property
    def _found(self) -> tuple[dict[int, Witness], Witness | None, str]:
        """What was found for each change, and for none; why nothing could be tried."""
        try:
            found, left = self._search.explained(self._suspects, self._is_proved)
            if left is not None:
                others = {
                    i: s for i, s in self._alone.items() if i not in self._suspects
                }
                blamed = self._search.blamed(left, others)
                found.update(blamed)
                left = None if blamed else left
        except ValueError as error:
            return {}, None, f"nothing was tried: {str(error)[:200]}"
        return found, left, ""

    def of(self, index: int) -> Verdict:
        """What one change means."""
        change = self._changes[index]
        usual = RULES[self._field, change.row].grades.call
        if not change.edits:
            return Verdict(usual)
        if self._is_harmless:
            return self._harmless(change)
        found, _, why = self._found
        if index in found:
            value, is_declared = found[index]
            if is_declared:
                return Verdict(Grade.BREAKING, "an example shows it", value)
            return Verdict(Grade.RISKY, _UNTOLD, value)
        if index not in self._alone:
            if self._is_suspect(index):
                return Verdict(Grade.RISKY, _TOO_MANY)
            return Verdict(Grade.SAFE)
        side = self._suspects.get(index)
        if side is None or self._is_proved(side, only_declared=True):
            return self._harmless(change)
        if EFFECTS[change.row] == "none":
            return Verdict(usual)
        return Verdict(Grade.RISKY, why or _NOT_FOUND[self._field])

    def _harmless(self, change: Difference) -> Verdict:
        if change.row == "property-removed" and not self._is_still_told(change):
            return Verdict(Grade.RISKY, _NOT_READ[self._field])
        limit = change.before if change.after is ABSENT else change.after
        is_limit = change.row.startswith(("minimum-", "maximum-"))
        if is_limit and isinstance(limit, int) and abs(limit) >= EXACT:
            return Verdict(Grade.SAFE, _INEXACT)
        return Verdict(Grade.SAFE, _NOTHING_REFUSED[self._field])

    def _is_still_told(self, change: Difference) -> bool:
        """Whether a property that is gone stands in another part of the same schema."""
        pair = change.pair
        told = pair.after_side.everything(pair.after.original)
        return any(change.path[-1] in part.get("properties", {}) for part in told)

    def unexplained(self) -> Verdict | None:
        """What was found and is refused by no single change."""
        if not self._alone or self._is_harmless:
            return None
        found, left, _ = self._found
        if left is None or any(witness.is_declared for witness in found.values()):
            return None
        return Verdict(Grade.BREAKING, "the changes together refuse it", left.value)
