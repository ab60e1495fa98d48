"""Proofs that the arrays of one schema are taken by another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from ..schema_side import Conjunction, SchemaSide
from ..value_limits import ValueLimits

__all__ = ["Proof", "takes_array"]


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


def takes_array(
    proof: Proof, sent: Conjunction, limits: ValueLimits, part: Mapping[str, Any]
) -> bool:
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
