"""Proofs that a schema accepts all objects and arrays that another schema allows."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from functools import cached_property
from typing import Any

from .schema_version import (
    Conjunction,
    list_property_schemas,
    lists_all_names,
    matches_pattern,
)
from .unevaluated import Proof, accepts_unevaluated, list_evaluated_names
from .value_limits import ValueLimits


def accepts_arrays(proof: Proof, limits: ValueLimits, part: Mapping[str, Any]) -> bool:
    """Return whether a part of the receiver's conjunction accepts all arrays sent.

    Args:
        proof: the proof.
        limits: the limits of the sent values.
        part: the part of the receiver's conjunction.
    """
    min_items, max_items = limits.get_minimum("minItems"), _get_max_items(proof, limits)
    # No array satisfies the sender's limits, so there is nothing to accept.
    if min_items > max_items:
        return True
    if min_items < part.get("minItems", 0):
        return False
    if max_items > part.get("maxItems", math.inf):
        return False
    is_unique = True in limits.get_all("uniqueItems") or max_items <= 1
    if part.get("uniqueItems") is True and not is_unique:
        return False
    # Items after the leading ones share one schema: one further index covers them all.
    item_schemas = proof.receiver.get_item_schemas(part)
    leading_count = max(len(item_schemas.leading), _count_leading_items(proof, limits))
    for index in range(leading_count + 1):
        schema = item_schemas.get_schema(index)
        if index < max_items and not proof.accepts_all(
            _get_item_conjunction(proof, limits, index), schema
        ):
            return False
    if not accepts_unevaluated(proof, tuple(limits.parts), part, "unevaluatedItems"):
        return False
    return "contains" not in part or _accepts_contains(proof, limits, part, max_items)


def _count_leading_items(proof: Proof, limits: ValueLimits) -> int:
    counts = [len(proof.sender.get_item_schemas(p).leading) for p in limits.parts]
    return max(counts, default=0)


def _get_max_items(proof: Proof, limits: ValueLimits) -> float:
    max_items = limits.get_maximum("maxItems")
    for part in limits.parts:
        leading, rest = proof.sender.get_item_schemas(part)
        # `false` for further items limits the array to the leading items.
        if rest is False:
            max_items = min(max_items, len(leading))
    return max_items


def _get_item_conjunction(proof: Proof, limits: ValueLimits, index: int) -> Conjunction:
    """Return the sender's schemas of the item at an index."""
    parts: list[Any] = []
    for part in limits.parts:
        schema = proof.sender.get_item_schemas(part).get_schema(index)
        parts += proof.sender.get_conjunction(schema)
    return tuple(parts)


def _accepts_contains(
    proof: Proof, limits: ValueLimits, part: Mapping[str, Any], max_items: float
) -> bool:
    """Return whether all arrays sent satisfy `contains`, as far as it can be proved.

    They must have at least `minContains` (default: 1) and at most `maxContains`
    matching items.
    """
    contained, min_contains = part["contains"], part.get("minContains", 1)
    max_contains = part.get("maxContains", math.inf)
    has_enough: bool = min_contains == 0
    has_not_too_many: bool = max_items <= max_contains
    # Without leading items, the schema of the item at index 0 applies to all items.
    all_items_match = proof.accepts_all(
        _get_item_conjunction(proof, limits, 0), contained
    ) and not _count_leading_items(proof, limits)
    if all_items_match and limits.get_minimum("minItems") >= min_contains:
        has_enough = True
    for sent_part in limits.parts:
        if "contains" not in sent_part:
            continue
        sent_items = proof.sender.get_conjunction(sent_part["contains"])
        if sent_part.get("minContains", 1) >= min_contains and proof.accepts_all(
            sent_items, contained
        ):
            has_enough = True
        if (
            sent_part.get("maxContains", math.inf) <= max_contains
            and sent_part["contains"] == contained
        ):
            has_not_too_many = True
    return has_enough and has_not_too_many


def accepts_objects(
    proof: Proof, sent: Conjunction, limits: ValueLimits, part: Mapping[str, Any]
) -> bool:
    """Return whether a part of the receiver's conjunction accepts all objects sent.

    Args:
        proof: the proof.
        sent: the sender's conjunction.
        limits: the limits of the conjunction.
        part: the part of the receiver's conjunction.
    """
    names = _PropertyNames(proof, limits)
    required_names = _collect_required(proof, limits)
    if not required_names >= set(part.get("required", ())):
        return False
    min_properties = max(limits.get_minimum("minProperties"), len(required_names))
    max_properties = limits.get_maximum("maxProperties")
    if names.is_complete and "maxProperties" in part:
        max_properties = min(max_properties, len(names.possible_names))
    if min_properties < part.get("minProperties", 0):
        return False
    if max_properties > part.get("maxProperties", math.inf):
        return False
    return (
        _accepts_properties(proof, names, part)
        and _accepts_names(proof, names, limits, part)
        and _accepts_dependencies(proof, sent, limits, names, part)
    )


def _collect_required(proof: Proof, limits: ValueLimits) -> set[str]:
    """Return the required names, and all names that these require by dependencies."""
    names = set(limits.required_names)
    entailed = [
        (name, value)
        for part in limits.parts
        for name, value in proof.sender.list_dependencies(part)
        if isinstance(value, list)
    ]
    # A required name can require further names: one pass for each dependency is enough.
    for _ in entailed:
        names.update(n for name, value in entailed if name in names for n in value)
    return names


class _PropertyNames:
    """The property names that a sent object can have, and the schemas of their values.

    Attributes:
        patterns: the patterns of `patternProperties`.
        is_implicitly_closed: whether the proof assumes that there are no undeclared names,
            though the schema does not forbid them.
        is_closed: whether every name is listed or matches a pattern.
        is_complete: whether every name is listed.
    """

    def __init__(self, proof: Proof, limits: ValueLimits) -> None:
        self._proof = proof
        self._limits = limits
        listed_names: dict[str, None] = {}
        patterns: dict[str, None] = {}
        proof.spend(sum(len(part.get("properties", ())) for part in limits.parts) // 50)
        for part in limits.parts:
            listed_names.update(dict.fromkeys(part.get("properties", {})))
            patterns.update(dict.fromkeys(part.get("patternProperties", {})))
        is_closed = any(
            part.get("additionalProperties") is False for part in limits.parts
        )
        self._listed_names = list(listed_names)
        self.patterns = list(patterns)
        self.is_implicitly_closed = (
            proof.only_declared and not is_closed and self._lists_all_names()
        )
        self.is_closed = is_closed or self.is_implicitly_closed
        self.is_complete = self.is_closed and not patterns

    @cached_property
    def possible_names(self) -> list[str]:
        """The listed names whose schemas allow a value."""
        self._proof.spend(len(self._listed_names) // 4)
        return [name for name in self._listed_names if self._allows_value(name)]

    def list_names_outside(self, properties: Container[str]) -> list[str]:
        """Return the possible names that are not in `properties` of another schema."""
        names = [name for name in self._listed_names if name not in properties]
        self._proof.spend(len(names) // 8)
        return [name for name in names if self._allows_value(name)]

    def _lists_all_names(self) -> bool:
        """Return whether the sender's schemas list properties and mention no other names."""
        own_parts = self._limits.parts
        applicable = self._proof.sender.collect_applicable(*own_parts)
        own_ids = set(map(id, own_parts))
        for schema in applicable:
            # Names that only a branch or a reference target lists are missing in
            # `_listed_names`, so the list is not complete.
            if id(schema) not in own_ids and "properties" in schema:
                return False
        return lists_all_names(applicable)

    def _allows_value(self, name: str) -> bool:
        return not ValueLimits(self.get_property_conjunction(name)).is_impossible

    def has_schema(self, name: str, schema: Any) -> bool:
        """Return whether the sender has the same schema object for a property."""
        return any(
            part.get("properties", {}).get(name, self) is schema
            for part in self._limits.parts
        )

    def is_possible(self, name: str) -> bool:
        """Return whether a sent object can have a name."""
        # By assumption, senders of an implicitly closed object use no undeclared names.
        if self.is_implicitly_closed:
            return name in self.possible_names or any(
                matches_pattern(pattern, name) for pattern in self.patterns
            )
        return self._allows_value(name)

    def get_property_conjunction(self, name: str) -> Conjunction:
        """Return the sender's schemas of a property's value."""
        return self._join(
            schema
            for part in self._limits.parts
            for schema in list_property_schemas(part, name)
        )

    def get_pattern_conjunction(self, pattern: str) -> Conjunction:
        """Return the sender's schemas of the properties that match a pattern."""
        pattern_schemas = self._limits.get_all("patternProperties")
        return self._join(
            schemas[pattern] for schemas in pattern_schemas if pattern in schemas
        )

    def get_additional_conjunction(self) -> Conjunction:
        """Return the sender's schemas of the properties that no keyword names."""
        return self._join(self._limits.get_all("additionalProperties"))

    def _join(self, schemas: Iterable[Any]) -> Conjunction:
        get_conjunction = self._proof.sender.get_conjunction
        return tuple(part for schema in schemas for part in get_conjunction(schema))


def _accepts_properties(
    proof: Proof, names: _PropertyNames, part: Mapping[str, Any]
) -> bool:
    """Return whether the values of all properties are accepted.

    These are listed properties, properties that match a pattern, and additional ones.
    """
    properties = part.get("properties", {})
    for name, schema in properties.items():
        # Both versions share the schema object, so the property needs no proof.
        if proof.has_same_meaning(schema) and names.has_schema(name, schema):
            continue
        if names.is_possible(name) and not proof.accepts_all(
            names.get_property_conjunction(name), schema
        ):
            return False
    return _accepts_pattern_properties(
        proof, names, part
    ) and _accepts_additional_properties(proof, names, part)


def _accepts_pattern_properties(
    proof: Proof, names: _PropertyNames, part: Mapping[str, Any]
) -> bool:
    patterns = part.get("patternProperties", {})
    proof.spend(len(patterns) * (1 + len(names.patterns) // 4))
    for pattern, schema in patterns.items():
        for name in names.possible_names:
            if matches_pattern(pattern, name) and not proof.accepts_all(
                names.get_property_conjunction(name), schema
            ):
                return False
        # A property name can match this pattern and patterns of the sent schema, so the
        # schema of each sent pattern is checked, too.
        for sent_pattern in names.patterns:
            if not proof.accepts_all(
                names.get_pattern_conjunction(sent_pattern), schema
            ):
                return False
        can_be_additional = not names.is_closed and pattern not in names.patterns
        if can_be_additional and not proof.accepts_all(
            names.get_additional_conjunction(), schema
        ):
            return False
    return True


def _accepts_additional_properties(
    proof: Proof, names: _PropertyNames, part: Mapping[str, Any]
) -> bool:
    additional = part.get("additionalProperties", True)
    if additional is True:
        return True
    patterns = part.get("patternProperties", {})
    for name in names.list_names_outside(part.get("properties", {})):
        has_pattern = any(matches_pattern(pattern, name) for pattern in patterns)
        if not has_pattern and not proof.accepts_all(
            names.get_property_conjunction(name), additional
        ):
            return False
    for pattern in names.patterns:
        if pattern not in patterns and not proof.accepts_all(
            names.get_pattern_conjunction(pattern), additional
        ):
            return False
    return names.is_closed or proof.accepts_all(
        names.get_additional_conjunction(), additional
    )


def _accepts_names(
    proof: Proof, names: _PropertyNames, limits: ValueLimits, part: Mapping[str, Any]
) -> bool:
    """Return whether `unevaluatedProperties` and `propertyNames` accept all names."""
    keyword = "unevaluatedProperties"
    if not accepts_unevaluated(proof, tuple(limits.parts), part, keyword):
        # Without a sent part to rely on, every schema in the keyword is handled like `false`.
        evaluated_names = list_evaluated_names(proof.receiver, part)
        if not names.is_complete or names.list_names_outside(evaluated_names):
            return False
    name_schema = part.get("propertyNames", True)
    if name_schema is True:
        return True
    for sent_schema in limits.get_all("propertyNames"):
        if proof.accepts_all(proof.sender.get_conjunction(sent_schema), name_schema):
            return True
    return names.is_complete and all(
        proof.accepts_all(({"const": name},), name_schema)
        for name in names.possible_names
    )


def _accepts_dependencies(
    proof: Proof,
    sent: Conjunction,
    limits: ValueLimits,
    names: _PropertyNames,
    part: Mapping[str, Any],
) -> bool:
    """Return whether all objects sent meet the receiver's dependencies.

    A dependency requires other properties, or a schema, if a property is present.
    """
    for name, entailed in proof.receiver.list_dependencies(part):
        # A dependency of a property that is never sent has no effect.
        if not names.is_possible(name):
            continue
        sent_dependencies = [
            dependency
            for sent_part in limits.parts
            for sent_name, dependency in proof.sender.list_dependencies(sent_part)
            if sent_name == name
        ]
        if isinstance(entailed, list):
            present_names = limits.required_names | {name}
            for dependency in sent_dependencies:
                if isinstance(dependency, list):
                    present_names |= set(dependency)
            if not present_names.issuperset(entailed):
                return False
        elif not proof.accepts_all(sent, entailed) and not any(
            proof.accepts_all(proof.sender.get_conjunction(dependency), entailed)
            for dependency in sent_dependencies
            if not isinstance(dependency, list)
        ):
            return False
    return True
