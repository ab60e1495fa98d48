"""Grades of schema changes for callers, for readers of results, and for models."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from ...parsing.tree import Path
from ..change import ABSENT, Grade
from ..text_changes import TextPair, classify_edit
from .examples import find_examples
from .inclusion import InclusionProof, StepBudget
from .message_text import ALTERNATIVE
from .schema_pairs import Difference
from .schema_rules import EFFECTS, KEYWORDS, RULES, RULES_BY_ID, Field
from .schema_version import Acceptor, SchemaVersion
from .value_limits import MAX_SAFE_INTEGER

_MAX_STEPS = 1_000
"""Comparison steps for the grades of two schemas."""
_MAX_SEPARATE_EDITS = 40
"""Edits that are graded separately."""
_MAX_SEPARATE_LOCATIONS = 12_000
"""Schema locations times separately graded edits."""
_NOTHING_REJECTED = {
    "parameters": "all arguments that were valid are still valid",
    "returns": "every result that is valid now was also valid before",
}
_UNDESCRIBED = {
    "parameters": "the property is still accepted, but no longer described",
    "returns": "readers of the property may not find it, or find another value",
}
_UNSAFE_INTEGER = "some JSON parsers do not read integers beyond this limit exactly"
_INSIDE_NOT = "the change is inside `not`, which reverses its effect"
_AMBIGUOUS = "other keywords decide whether more or fewer values are valid"
UNPROVED = {
    "parameters": "it is not proved that all arguments that were valid are still valid",
    "returns": "it is not proved that every result that is valid now was valid before",
}
_FORMAT_NOT_VALIDATED = (
    "the runtime does not validate the format, but other programs may reject strings"
)
_STRICT_READERS = "only readers that validate results with the old schema reject it"
_ONLY_UNDECLARED = "only properties that the schema does not declare can become invalid"
_PROVED_BY_EXAMPLE = "an example proves it"
_PROVED_TOGETHER = "only all changes together make the example invalid"
_REMOVED_PROPERTY_KINDS = (
    "property-removed",
    "required-property-removed",
    "property-renamed",
)
_ADDED_PROPERTY_KINDS = ("property-added", "required-property-added")
_FORMAT_KINDS = ("format-set", "format-changed")
_CONTEXT_DEPENDENT_KINDS = frozenset(
    (
        "rewritten property-added required-property-added pattern-property-removed"
        " prefix-item-added prefix-item-removed all-of-removed any-of-removed"
        " one-of-removed condition-removed dependent-schema-removed"
    ).split()
)
"""Kinds whose table grade can be wrong if other keywords apply to the same values.

A removed branch may be the only one that declares a parameter, which is then rejected.
"""

_EVALUATING_KEYWORDS = frozenset(
    (
        "properties patternProperties additionalProperties unevaluatedProperties"
        " prefixItems items additionalItems contains unevaluatedItems"
        " allOf anyOf oneOf if dependentSchemas dependencies"
    ).split()
)
"""The keywords that `unevaluatedProperties` and `unevaluatedItems` depend on."""


class CallGrade(NamedTuple):
    """The grade of a change for callers and readers of results.

    Attributes:
        grade: the grade.
        reason: the reason for a grade other than the table's; ignored if both are equal.
        example: a value that is valid for one version only; ABSENT if none was found.
    """

    grade: Grade
    reason: str = ""
    example: Any = ABSENT


class CallGrader:
    """Grades the changes of one field for callers, or for readers of results.

    A change that is proved to make nothing invalid is safe, and one with a counterexample is
    breaking. Only otherwise the grade of the table is used.

    Args:
        field: the field that contains the schema.
        before: the old version.
        after: the new version.
        differences: all changes of the field.
    """

    def __init__(
        self,
        field: Field,
        before: Acceptor,
        after: Acceptor,
        differences: Sequence[Difference],
    ) -> None:
        self._field = field
        self._differences = differences
        self._is_call = field == "parameters"
        # Callers know the old schema and send arguments that the new one has to accept.
        # Results are sent by the new schema, and their readers know the old one.
        if self._is_call:
            self._sender, self._receiver = before, after
        else:
            self._sender, self._receiver = after, before
        self._budget = StepBudget(_MAX_STEPS)
        self._proofs: dict[tuple[int, bool], bool] = {}

    @cached_property
    def _receivers_by_index(self) -> dict[int, SchemaVersion]:
        """The receiver's schema if each change were the only one, by the change's index."""
        edited = [i for i, diff in enumerate(self._differences) if diff.edits]
        # A single change is already the complete difference between both versions.
        if len(edited) == 1:
            return dict.fromkeys(edited, self._receiver.version)
        locations = len(self._sender.version.paths_by_id) + 1
        max_edits = min(
            _MAX_SEPARATE_EDITS, max(2, _MAX_SEPARATE_LOCATIONS // locations)
        )
        # The budget may not suffice for all: changes that are likely to break come first.
        edited.sort(key=lambda index: -self._get_table_grade(index).grade)
        return {
            index: self._apply_only(self._differences[index])
            for index in edited[:max_edits]
        }

    def _apply_only(self, difference: Difference) -> SchemaVersion:
        """Return a schema that differs from the sender's schema only by one change.

        It is the schema that the receiver would have if this change were the only one.
        """
        root = self._sender.version.root
        # Arguments follow the old schema, so the change is applied to it. Results follow
        # the new schema, so the change is reverted there.
        for edit in difference.edits:
            if self._is_call:
                root = _set_at_path(root, edit.before_path, edit.applied)
            else:
                root = _set_at_path(root, edit.after_path, edit.reverted)
        # An edit can insert a reference to a definition of the receiver's schema.
        return SchemaVersion(
            _add_definitions(root, self._receiver.version.root),
            asserts_formats=self._receiver.version.asserts_formats,
        )

    def _is_proved(
        self, version: SchemaVersion, *, only_declared: bool = False
    ) -> bool:
        """Return whether a proof exists that the receiver accepts every value of the sender.

        Args:
            version: the receiver's schema, with all changes or with one of them.
            only_declared: assume that the sender sends declared properties only.
        """
        key = (id(version), only_declared)
        if key not in self._proofs:
            proof = InclusionProof(
                self._sender.version, version, self._budget, only_declared=only_declared
            )
            acceptor = Acceptor(version, is_closed=self._receiver.is_closed)
            self._proofs[key] = proof.prove(
                self._sender.conjunction, acceptor.conjunction
            )
        return self._proofs[key]

    @cached_property
    def _is_compatible(self) -> bool:
        """Whether all changes together are proved to make nothing invalid."""
        return self._is_proved(self._receiver.version)

    @cached_property
    def _examples(self) -> tuple[dict[int, Any], Any]:
        """Counterexamples by the index of the change, and one for all changes together."""
        if self._is_compatible or not self._receivers_by_index:
            return {}, ABSENT
        unproved = {
            index: version
            for index, version in self._receivers_by_index.items()
            if not self._is_proved(version)
        }
        suspects = [
            index
            for index in unproved
            if self._get_table_grade(index).grade is not Grade.SAFE
        ]
        return find_examples(self._sender, self._receiver, unproved, suspects)

    def _get_table_grade(self, index: int) -> CallGrade:
        """Return the grade of the table, adapted to where in the schema the change is.

        Inside `not` it is the grade of the opposite change. Where the effect depends on
        other keywords, a grade is at least risky if the opposite change has a worse
        grade, and so are some kinds of changes that are safe in the table.
        """
        difference = self._differences[index]
        rule = RULES[self._field, difference.kind]
        grade, direction = rule.grades.call, difference.pair.direction
        opposite_grade = RULES_BY_ID[rule.opposite].grades.call
        is_evaluating = self._can_change_evaluation(difference)
        # Inside `not`, fewer valid values mean more valid values outside, and the reverse.
        if direction < 0 and opposite_grade is not grade:
            if opposite_grade is Grade.SAFE and is_evaluating:
                return CallGrade(Grade.RISKY, UNPROVED[self._field])
            return CallGrade(opposite_grade, _INSIDE_NOT)
        if direction == 0 and grade < opposite_grade:
            return CallGrade(Grade.RISKY, _AMBIGUOUS)
        is_dependent = is_evaluating or difference.kind in _CONTEXT_DEPENDENT_KINDS
        if grade is Grade.SAFE and is_dependent:
            return CallGrade(Grade.RISKY, UNPROVED[self._field])
        return CallGrade(grade)

    def _can_change_evaluation(self, difference: Difference) -> bool:
        """Return whether a change can decide what an `unevaluated*` keyword applies to.

        Next to such a keyword, an added branch can make more values valid.
        """
        return not _EVALUATING_KEYWORDS.isdisjoint(KEYWORDS[difference.kind]) and (
            self._sender.version.has_unevaluated_keywords
            or self._receiver.version.has_unevaluated_keywords
        )

    @cached_property
    def _is_safe_only_separately(self) -> bool:
        """Whether each change is safe, but it is not proved that all together are."""
        return not self._is_compatible and all(
            self._is_proved(version) or self._get_table_grade(index).grade is Grade.SAFE
            for index, version in self._receivers_by_index.items()
        )

    def grade(self, index: int) -> CallGrade:
        """Return the grade of the change at an index.

        In this order: a proof that nothing becomes invalid, a counterexample
        (breaking), a proof that only undeclared properties are affected (risky), the
        grade of the table.
        """
        difference = self._differences[index]
        if not difference.edits:
            return CallGrade(RULES[self._field, difference.kind].grades.call)
        version = self._receivers_by_index.get(index)
        if self._is_compatible or (version is not None and self._is_proved(version)):
            # Two changed keywords may evaluate the same property, so that each change is
            # safe only without the other one.
            if (
                self._can_change_evaluation(difference)
                and self._is_safe_only_separately
            ):
                return CallGrade(Grade.RISKY, UNPROVED[self._field])
            return self._grade_compatible(difference)
        is_added_property = difference.kind in _ADDED_PROPERTY_KINDS
        # A reader that validates with a closed old schema rejects the added property.
        if is_added_property and not self._is_call and _was_closed(difference):
            return CallGrade(Grade.RISKY, _STRICT_READERS)
        examples, _ = self._examples
        if index in examples:
            return CallGrade(Grade.BREAKING, _PROVED_BY_EXAMPLE, examples[index])
        versions = [self._receiver.version]
        if version:
            versions.append(version)
        # A change that can reject only undeclared properties is risky, not breaking.
        if any(self._is_proved(version, only_declared=True) for version in versions):
            return CallGrade(Grade.RISKY, _ONLY_UNDECLARED)
        grade = self._get_table_grade(index)
        if grade.grade is Grade.RISKY and EFFECTS[difference.kind] == "either":
            return grade._replace(reason=grade.reason or UNPROVED[self._field])
        return grade

    def _grade_compatible(self, difference: Difference) -> CallGrade:
        """Return the grade of a change that makes nothing invalid.

        It is safe, except for a removed property that the new schema no longer
        declares, and for a format of arguments that the runtime does not validate:
        these are risky.
        """
        is_removed_property = difference.kind in _REMOVED_PROPERTY_KINDS
        if is_removed_property and not self._is_still_declared(difference):
            return CallGrade(Grade.RISKY, _UNDESCRIBED[self._field])
        is_asserted = self._receiver.version.asserts_formats
        if self._is_call and difference.kind in _FORMAT_KINDS and not is_asserted:
            return CallGrade(Grade.RISKY, _FORMAT_NOT_VALIDATED)
        limit = difference.before if difference.after is ABSENT else difference.after
        is_bound = difference.kind.startswith(("minimum-", "maximum-"))
        # JSON implementations agree only on integers up to this limit (RFC 8259, 6).
        if is_bound and isinstance(limit, int) and abs(limit) >= MAX_SAFE_INTEGER:
            return CallGrade(Grade.SAFE, _UNSAFE_INTEGER)
        return CallGrade(Grade.SAFE, _NOTHING_REJECTED[self._field])

    def _is_still_declared(self, difference: Difference) -> bool:
        """Return whether another part of the new schema declares a removed property."""
        pair = difference.pair
        parts = pair.after_version.collect_applicable(pair.after.original)
        if difference.kind == "property-renamed":
            name = difference.before
        else:
            name = difference.path[-1]
        return any(name in part.get("properties", {}) for part in parts)

    def grade_combination(self) -> CallGrade | None:
        """Return the grade of all changes together, or None.

        It is breaking if an example is invalid only because of several changes, and None
        without such an example.
        """
        _, combined_example = self._examples
        if combined_example is ABSENT:
            return None
        return CallGrade(Grade.BREAKING, _PROVED_TOGETHER, combined_example)


def grade_for_prompt(difference: Difference, grade: Grade) -> tuple[Grade, str]:
    """Return the grade of a change for models, and the reason if it differs from `grade`.

    A description or title that differs only in white space is safe, and so is a title that
    only spells the property's name differently.

    Args:
        difference: the change.
        grade: the default grade of its kind.
    """
    is_text = difference.kind.startswith(("description-", "title-"))
    if not is_text or grade is Grade.SAFE:
        return grade, ""
    old = "" if difference.before is ABSENT else str(difference.before)
    new = "" if difference.after is ABSENT else str(difference.after)
    if difference.kind.startswith("title-"):
        location = difference.pair.location.replace(ALTERNATIVE, "")
        name = re.split(r"[.\[\0]", location)[-1]
        if _normalize_name(new or old) == _normalize_name(name):
            return Grade.SAFE, "the title is the property name in another spelling"
    kind, description = classify_edit(TextPair(difference.path, "it", old, new))
    if kind == "text/restyled":
        return Grade.SAFE, f"it {description}"
    return grade, ""


def _normalize_name(text: str) -> str:
    return re.sub(r"[\W_]", "", text).casefold()


def _was_closed(difference: Difference) -> bool:
    """Return whether the old object allowed only properties that its schema lists."""
    keywords = ("additionalProperties", "unevaluatedProperties")
    return any(difference.pair.before.get(keyword) is False for keyword in keywords)


def _set_at_path(root: Any, path: Path, value: Any) -> Any:
    """Return a copy of a schema with a value set at a path; ABSENT removes the path.

    Missing objects and array items on the path are created.
    """
    if not path:
        return value
    step, rest = path[0], path[1:]
    is_removal = not rest and value is ABSENT
    if isinstance(root, list) and isinstance(step, int):
        items = list(root)
        if is_removal:
            return items[:step] + items[step + 1 :]
        if step >= len(items):
            items += [True] * (step + 1 - len(items))
        items[step] = _set_at_path(items[step], rest, value)
        return items
    node = dict(root) if isinstance(root, dict) else {}
    key = str(step)
    if is_removal:
        node.pop(key, None)
    else:
        node[key] = _set_at_path(node.get(key, {}), rest, value)
    return node


def _add_definitions(root: Any, other: Any) -> Any:
    """Return a schema with the definitions of another schema that it does not have."""
    if not isinstance(root, dict) or not isinstance(other, dict):
        return root
    definitions = {
        keyword: {**other[keyword], **root.get(keyword, {})}
        for keyword in ("$defs", "definitions")
        if isinstance(other.get(keyword), dict)
    }
    return {**root, **definitions} if definitions else root
