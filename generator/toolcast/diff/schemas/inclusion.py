"""Proofs that what one schema takes is taken by another.

The search for a proof is bounded. That there is none says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS, build_validator
from toolcast_runtime.core.validation.references import REFERENCES

from ..change import is_equal_json
from .container_inclusion import takes_array, takes_object
from .schema_version import ANNOTATIONS, Conjunction, SchemaSide
from .value_limits import EXACT, Bound, ValueLimits, types_of


class StepLimitError(Exception):
    """Comparison step beyond the number of steps allowed."""


class Effort:
    """Steps that several proofs share: one takes some forty microseconds.

    Args:
        steps: all of them.
    """

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int, floor: int = 0) -> None:
        """Takes some of the steps.

        Raises:
            StepLimitError: there are not that many above the floor.
        """
        self.left -= steps
        if self.left < floor:
            raise StepLimitError


_MAX_STEPS = 450
"""Steps of one proof."""
_MAX_SPLITS = 4
"""Nested case distinctions in one proof."""
_PLAIN = ANNOTATIONS - {"format"} | {"type", "enum", "const"}
_NUMBERS = frozenset(("integer", "fraction"))
_LENGTHS = ("minLength", "maxLength")


class Inclusion:
    """Whether all that is sent by one schema is taken by another.

    Args:
        sender: the side whose values come.
        receiver: the side that takes or refuses them.
        only_declared: nothing is sent under a name that the sender's schema lets in without
            saying so: an object whose schema lists properties and is silent about others
            has these alone.
        effort: what it may take, with other proofs.
    """

    def __init__(
        self,
        sender: SchemaSide,
        receiver: SchemaSide,
        effort: Effort,
        *,
        only_declared: bool,
    ) -> None:
        self.sender = sender
        self.receiver = receiver
        self.only_declared = only_declared
        self._are_shared = sender.shares_definitions(receiver)
        self._effort = effort
        self._floor = 0
        self._splits = 0
        self._assumed: list[tuple[tuple[int, ...], int]] = []
        # What is made here is kept, so that no identity comes twice.
        self._kept: list[Any] = []
        self._with_reference: dict[int, bool] = {}

    def is_proved(self, sent: Conjunction, taken: Conjunction) -> bool:
        """Whether each value of all the sender's schemas is one of all the receiver's."""
        if not self.sender.is_read_like(self.receiver):
            return False
        self._floor = max(0, self._effort.left - _MAX_STEPS)
        try:
            return all(self.holds(sent, part) for part in taken)
        except (StepLimitError, RecursionError):
            return False
        finally:
            self._assumed.clear()
            self._splits = 0

    def spend(self, steps: int) -> None:
        """Takes some of the effort."""
        self._effort.spend(steps, self._floor)

    def holds(self, sent: Conjunction, taken: Any) -> bool:
        """The same, for all the schemas that apply to what is sent."""
        if taken is True or taken == {}:
            return True
        self.spend(1 + len(sent) // 4)
        if any(one is taken for one in sent) and self.is_plain(taken):
            return True
        limits = ValueLimits(sent)
        if limits.is_impossible:
            return True
        key = (tuple(map(id, sent)), id(taken))
        if key in self._assumed:
            return True  # A loop through the data: no smaller value breaks it.
        self._kept += (sent, taken)
        self._assumed.append(key)
        try:
            parts = self.receiver.conjunction(taken)
            self._kept.append(parts)
            if all(self._takes(sent, limits, part) for part in parts):
                return True
            return self._by_cases(sent, limits, taken)
        finally:
            self._assumed.pop()

    def _by_cases(self, sent: Conjunction, limits: ValueLimits, taken: Any) -> bool:
        """Whether it holds for each alternative of what is sent, or for each type."""
        if self._splits >= _MAX_SPLITS:
            return False
        cases = list(self._cases(sent, limits))
        if not cases:
            return False
        self._splits += 1
        try:
            return all(self.holds(case, taken) for case in cases)
        finally:
            self._splits -= 1

    def _cases(self, sent: Conjunction, limits: ValueLimits) -> Iterator[Conjunction]:
        cases = self.sender.cases(sent)
        if cases:
            yield from cases
            return
        if len(limits.types) > 1:
            kinds = limits.types
            if "fraction" in kinds:
                kinds = kinds - _NUMBERS | {"number"}
            for kind in sorted(kinds):
                yield (*sent, {"type": kind})

    def _takes(self, sent: Conjunction, limits: ValueLimits, part: Any) -> bool:
        """Whether one schema of the receiver takes all that is sent."""
        if part is False:
            return False
        if any(is_equal_json(part, one) for one in sent) and self.is_plain(part):
            return True
        if limits.are_few and not self._refers(part):
            return self._takes_each(sent, limits, part)
        if not limits.types <= types_of(part) or "enum" in part or "const" in part:
            return False
        kinds = limits.types
        if kinds & _NUMBERS and not _takes_numbers(limits, part):
            return False
        if "string" in kinds and not (
            _takes_texts(limits, part) and self._takes_format(limits, part)
        ):
            return False
        if "array" in kinds and not takes_array(self, limits, part):
            return False
        if "object" in kinds and not takes_object(self, sent, limits, part):
            return False
        return self._takes_choices(sent, part)

    def _takes_format(self, limits: ValueLimits, part: Mapping[str, Any]) -> bool:
        name = part.get("format")
        is_asserted = self.receiver.asserts_formats and name in ASSERTED_FORMATS
        return not is_asserted or name in limits.all("format")

    def _takes_choices(self, sent: Conjunction, part: Mapping[str, Any]) -> bool:
        if any(isinstance(part.get(keyword), str) for keyword in REFERENCES):
            return False  # It leads nowhere that is known.
        branches = part.get("anyOf")
        if isinstance(branches, list) and not any(
            self.holds(sent, branch) for branch in branches
        ):
            return False
        branches = part.get("oneOf")
        if isinstance(branches, list) and not self._takes_one(sent, branches):
            return False
        if "not" in part and not self._is_apart(sent, part["not"]):
            return False
        if "if" in part and ("then" in part or "else" in part):
            then, other = part.get("then", True), part.get("else", True)
            if not (self.holds(sent, then) and self.holds(sent, other)):
                if not self.holds(sent, part["if"]):
                    return False
                return self.holds(sent, then)
        return True

    def _takes_one(self, sent: Conjunction, branches: list[Any]) -> bool:
        for index, branch in enumerate(branches):
            others = (*branches[:index], *branches[index + 1 :])
            if self.holds(sent, branch):
                taken = self.receiver.conjunction(branch)
                return all(
                    self._is_apart(sent, other)
                    or are_apart(taken, self.receiver.conjunction(other))
                    for other in others
                )
        return False

    def _is_apart(self, sent: Conjunction, refused: Any) -> bool:
        """Whether nothing that is sent is taken by a schema of the receiver."""
        self.spend(1 + len(sent) // 4)
        if are_apart(sent, self.receiver.conjunction(refused)):
            return True
        # Where the sender says `not` of at least as much, too.
        back = Inclusion(self.receiver, self.sender, self._effort, only_declared=False)
        back._floor = self._floor
        return any(
            isinstance(part, dict)
            and "not" in part
            and back.holds(self.receiver.conjunction(refused), part["not"])
            for part in sent
        )

    def _takes_each(
        self, sent: Conjunction, limits: ValueLimits, part: Mapping[str, Any]
    ) -> bool:
        """Whether each of few values is taken, or is none of the sender's after all."""
        self.spend(1 + len(limits.values or ()) // 4)
        refused = [
            value
            for value in limits.values or ()
            if _is_of(value, part, self.receiver) is not True
        ]
        sendable = [one for one in sent if isinstance(one, dict)]
        return all(
            any(
                not self._refers(one) and _is_of(value, one, self.sender) is False
                for one in sendable
            )
            for value in refused
        )

    def is_plain(self, schema: Any) -> bool:
        """Whether a schema means the same on both sides: what it refers to, too."""
        return self._are_shared or not self._refers(schema)

    def _refers(self, schema: Any) -> bool:
        """Whether a schema has a reference anywhere."""
        if not isinstance(schema, (dict, list)):
            return False
        known = self._with_reference.get(id(schema))
        if known is None:
            inner = schema.values() if isinstance(schema, dict) else schema
            known = isinstance(schema, dict) and any(k in schema for k in REFERENCES)
            known = known or any(self._refers(one) for one in inner)
            self._with_reference[id(schema)] = known
            self._kept.append(schema)
        return known


def accept_the_same(
    sides: tuple[SchemaSide, SchemaSide], schemas: tuple[Any, Any], effort: Effort
) -> bool:
    """Whether it is proved that two schemas, perhaps written otherwise, take the same."""
    one, other = sides
    if any(
        word.startswith("unevaluated")
        for side, schema in zip(sides, schemas, strict=True)
        for part in side.everything(schema)
        for word in part
    ):
        return False  # What stands beside such a keyword decides what it means.
    parts = one.conjunction(schemas[0]), other.conjunction(schemas[1])
    there = Inclusion(one, other, effort, only_declared=False)
    back = Inclusion(other, one, effort, only_declared=False)
    return there.is_proved(*parts) and back.is_proved(*parts[::-1])


def _is_of(value: Any, schema: Mapping[str, Any], side: SchemaSide) -> bool | None:
    """Whether a value is valid by a schema without references; None when nobody knows."""
    if schema.keys() <= _PLAIN:
        own = ValueLimits((schema,))
        if own.values is not None:
            return any(is_equal_json(value, one) for one in own.values)
    declared = {} if side.dialect is None else {"$schema": side.dialect}
    try:
        validator = build_validator(
            {**schema, **declared}, asserts_formats=side.asserts_formats
        )
        return bool(validator.is_valid(value))
    except ValueError:
        return None


def are_apart(one: Conjunction, other: Conjunction) -> bool:
    """Whether no value can be of both, as far as types, values and one name show it."""
    both = ValueLimits((*one, *other))
    if both.is_impossible:
        return True
    if both.types != {"object"}:
        return False
    # Alternatives are mostly told apart by a property that each has and names a value of.
    for name in both.required:
        told = [
            properties[name]
            for properties in both.all("properties")
            if isinstance(properties.get(name), dict)
        ]
        if ValueLimits(tuple(told)).is_impossible:
            return True
    return False


def _takes_numbers(limits: ValueLimits, part: Mapping[str, Any]) -> bool:
    own = ValueLimits((part,))
    whole = limits.is_whole
    ends = (("minimum", -1), ("maximum", 1))
    for (keyword, sign), sent in zip(ends, limits.sent, strict=True):
        taken = own.limit(keyword, whole=whole)
        is_written = taken == Bound(sign * EXACT) and sent.value == sign * math.inf
        reach = [(sign * one.value, not one.is_open) for one in (sent, taken)]
        if reach[0] > reach[1] and not is_written:
            return False
    divisor = part.get("multipleOf")
    if divisor is None:
        return True
    if not isinstance(divisor, int):
        return any(divisor == one for one in limits.all("multipleOf"))
    return (whole and divisor == 1) or any(
        isinstance(one, int) and one % divisor == 0 for one in limits.all("multipleOf")
    )


def _takes_texts(limits: ValueLimits, part: Mapping[str, Any]) -> bool:
    least, most = _LENGTHS
    if limits.least(least) < part.get(least, 0):
        return False
    if most in part and limits.most(most) > part[most]:
        return False
    return "pattern" not in part or part["pattern"] in limits.all("pattern")
