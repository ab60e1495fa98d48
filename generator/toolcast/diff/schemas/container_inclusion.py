"""Proofs that the objects and arrays of one schema are taken by another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Protocol

from .schema_version import (
    Conjunction,
    SchemaSide,
    is_silent,
    matches,
    schemas_under,
)
from .value_limits import ValueLimits


class Proof(Protocol):
    """The proof that is being tried, as `Inclusion`."""

    sender: SchemaSide
    receiver: SchemaSide
    only_declared: bool

    def holds(self, sent: Conjunction, taken: Any) -> bool:
        """Whether all that is sent is taken."""

    def spend(self, steps: int) -> None:
        """Takes some of the effort."""

    def is_plain(self, schema: Any) -> bool:
        """Whether a schema means the same on both sides."""


def takes_array(proof: Proof, limits: ValueLimits, part: Mapping[str, Any]) -> bool:
    """Whether one schema of the receiver takes all arrays that are sent."""
    fewest, most = limits.least("minItems"), _most_items(proof, limits)
    if fewest > most:
        return True
    if fewest < part.get("minItems", 0) or most > part.get("maxItems", math.inf):
        return False
    is_unique = True in limits.all("uniqueItems") or most <= 1
    if part.get("uniqueItems") is True and not is_unique:
        return False
    first, rest = proof.receiver.positions(part)
    for index, schema in enumerate(first):
        if index < most and not proof.holds(_item(proof, limits, index), schema):
            return False
    own = max((len(proof.sender.positions(p).first) for p in limits.parts), default=0)
    for index in range(len(first), own):
        if index < most and not proof.holds(_item(proof, limits, index), rest):
            return False
    known = max(len(first), own)
    if known < most and not proof.holds(_item(proof, limits, known), rest):
        return False
    if "unevaluatedItems" in part and part["unevaluatedItems"] is not True:
        return False
    return "contains" not in part or _contains(proof, limits, part, most)


def _most_items(proof: Proof, limits: ValueLimits) -> float:
    most = limits.most("maxItems")
    for part in limits.parts:
        first, rest = proof.sender.positions(part)
        if rest is False:
            most = min(most, len(first))
    return most


def _item(proof: Proof, limits: ValueLimits, index: int) -> Conjunction:
    """What is sent of one item."""
    found: list[Any] = []
    for part in limits.parts:
        schema = proof.sender.positions(part).at(index)
        found += proof.sender.conjunction(schema)
    return tuple(found)


def _contains(
    proof: Proof, limits: ValueLimits, part: Mapping[str, Any], most: float
) -> bool:
    wanted, fewest = part["contains"], part.get("minContains", 1)
    allowed = part.get("maxContains", math.inf)
    is_enough: bool = fewest == 0
    is_bounded: bool = most <= allowed
    every = proof.holds(_item(proof, limits, 0), wanted) and not any(
        proof.sender.positions(p).first for p in limits.parts
    )
    if every and limits.least("minItems") >= fewest:
        is_enough = True
    for own in limits.parts:
        if "contains" not in own:
            continue
        inner = proof.sender.conjunction(own["contains"])
        if own.get("minContains", 1) >= fewest and proof.holds(inner, wanted):
            is_enough = True
        if own.get("maxContains", math.inf) <= allowed and own["contains"] == wanted:
            is_bounded = True
    return is_enough and is_bounded


def takes_object(
    proof: Proof, sent: Conjunction, limits: ValueLimits, part: Mapping[str, Any]
) -> bool:
    """Whether one schema of the receiver takes all objects that are sent."""
    names = _Names(proof, limits)
    if not limits.required >= set(part.get("required", ())):
        return False
    fewest = max(limits.least("minProperties"), len(limits.required))
    most = limits.most("maxProperties")
    if names.are_all and "maxProperties" in part:
        most = min(most, len(names.declared))
    if fewest < part.get("minProperties", 0):
        return False
    if most > part.get("maxProperties", math.inf):
        return False
    return (
        _takes_properties(proof, names, part)
        and _takes_names(proof, names, limits, part)
        and _takes_dependencies(proof, sent, limits, names, part)
    )


class _Names:
    """The names that an object may have, and what is sent under each.

    Attributes:
        patterns: the patterns that others may match.
        are_all: whether there are no others.
    """

    def __init__(self, proof: Proof, limits: ValueLimits) -> None:
        self._proof = proof
        self._limits = limits
        declared: dict[str, None] = {}
        patterns: dict[str, None] = {}
        listed = sum(len(part.get("properties", ())) for part in limits.parts)
        proof.spend(listed // 50)
        for part in limits.parts:
            declared.update(dict.fromkeys(part.get("properties", {})))
            patterns.update(dict.fromkeys(part.get("patternProperties", {})))
        is_closed = any(
            part.get("additionalProperties") is False for part in limits.parts
        )
        self._named = list(declared)
        self.patterns = list(patterns)
        self.is_quiet = (
            proof.only_declared and not is_closed and self._says_nothing_of_others()
        )
        self.is_closed = is_closed or self.is_quiet
        self.are_all = self.is_closed and not patterns

    @cached_property
    def declared(self) -> list[str]:
        """The names that are named, and not refused."""
        self._proof.spend(len(self._named) // 4)
        return [name for name in self._named if self._may_be(name)]

    def undeclared_in(self, names: Mapping[str, Any]) -> list[str]:
        """Those of them that are not among some others."""
        left = [name for name in self._named if name not in names]
        self._proof.spend(len(left) // 8)
        return [name for name in left if self._may_be(name)]

    def _says_nothing_of_others(self) -> bool:
        """Whether properties are listed, and nothing says what else there may be."""
        own = self._limits.parts
        told = self._proof.sender.everything(*own)
        known = set(map(id, own))
        # What alternatives name is not gathered here.
        is_gathered = not any(
            id(one) not in known and ("properties" in one or "$ref" in one)
            for one in told
        )
        return is_gathered and is_silent(told)

    def _may_be(self, name: str) -> bool:
        return not ValueLimits(self.sent(name)).is_impossible

    def has(self, name: str, schema: Any) -> bool:
        """Whether the very same schema is asked for under a name."""
        return any(
            part.get("properties", {}).get(name, self) is schema
            for part in self._limits.parts
        )

    def is_possible(self, name: str) -> bool:
        """Whether an object may have a name."""
        if self.is_quiet:
            return name in self.declared or any(matches(p, name) for p in self.patterns)
        return self._may_be(name)

    def sent(self, name: str) -> Conjunction:
        """What is sent under a name."""
        return self._joined(
            schema
            for part in self._limits.parts
            for schema in schemas_under(part, name)
        )

    def of_pattern(self, pattern: str) -> Conjunction:
        """What is sent under the names that match a pattern."""
        said = self._limits.all("patternProperties")
        return self._joined(one[pattern] for one in said if pattern in one)

    def of_others(self) -> Conjunction:
        """What is sent under the names that nothing names."""
        return self._joined(self._limits.all("additionalProperties"))

    def _joined(self, schemas: Iterable[Any]) -> Conjunction:
        conjunction = self._proof.sender.conjunction
        return tuple(part for schema in schemas for part in conjunction(schema))


def _takes_properties(proof: Proof, names: _Names, part: Mapping[str, Any]) -> bool:
    own = part.get("properties", {})
    patterns = part.get("patternProperties", {})
    for name, schema in own.items():
        if proof.is_plain(schema) and names.has(name, schema):
            continue
        if names.is_possible(name) and not proof.holds(names.sent(name), schema):
            return False
    proof.spend(len(patterns) * (1 + len(names.patterns) // 4))
    for pattern, schema in patterns.items():
        for name in names.declared:
            if matches(pattern, name) and not proof.holds(names.sent(name), schema):
                return False
        if not all(
            proof.holds(names.of_pattern(other), schema) for other in names.patterns
        ):
            return False
        is_free = not names.is_closed and pattern not in names.patterns
        if is_free and not proof.holds(names.of_others(), schema):
            return False
    others = part.get("additionalProperties", True)
    if others is True:
        return True
    for name in names.undeclared_in(own):
        is_named = any(matches(pattern, name) for pattern in patterns)
        if not is_named and not proof.holds(names.sent(name), others):
            return False
    for pattern in names.patterns:
        if pattern not in patterns and not proof.holds(
            names.of_pattern(pattern), others
        ):
            return False
    return names.is_closed or proof.holds(names.of_others(), others)


def _takes_names(
    proof: Proof, names: _Names, limits: ValueLimits, part: Mapping[str, Any]
) -> bool:
    if part.get("unevaluatedProperties", True) is not True:
        own = part.get("properties", {})
        if not names.are_all or names.undeclared_in(own):
            return False
    wanted = part.get("propertyNames", True)
    if wanted is True:
        return True
    if any(
        proof.holds(proof.sender.conjunction(said), wanted)
        for said in limits.all("propertyNames")
    ):
        return True
    return names.are_all and all(
        proof.holds(({"const": name},), wanted) for name in names.declared
    )


def _takes_dependencies(
    proof: Proof,
    sent: Conjunction,
    limits: ValueLimits,
    names: _Names,
    part: Mapping[str, Any],
) -> bool:
    for name, wanted in proof.receiver.dependencies(part):
        if not names.is_possible(name):
            continue
        said = [
            own
            for one in limits.parts
            for key, own in proof.sender.dependencies(one)
            if key == name
        ]
        if isinstance(wanted, list):
            told = {word for own in said if isinstance(own, list) for word in own}
            if not (limits.required | told | {name}).issuperset(wanted):
                return False
        elif not proof.holds(sent, wanted):
            schemas = [own for own in said if not isinstance(own, list)]
            if not any(
                proof.holds(proof.sender.conjunction(own), wanted) for own in schemas
            ):
                return False
    return True
