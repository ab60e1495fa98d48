"""Proofs that every value valid for one schema is valid for another.

The search for a proof is incomplete and limited in steps: a missing proof does not mean that
there is a counterexample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS, build_validator
from toolcast_runtime.core.validation.references import REFERENCES

from ..change import is_equal_json
from .container_inclusion import accepts_arrays, accepts_objects
from .patterns import includes_pattern
from .schema_version import ANNOTATIONS, Conjunction, SchemaVersion, get_undivided
from .unevaluated import has_same_unevaluated
from .value_limits import MAX_SAFE_INTEGER, Bound, ValueLimits, get_allowed_types


class StepLimitError(Exception):
    """Comparison step beyond the number of steps allowed."""


class StepBudget:
    """Number of steps that several proofs may take together.

    A step takes about 40 microseconds.

    Args:
        steps: the number of steps.

    Attributes:
        remaining: the steps left; below zero after a proof that exceeded the budget.
    """

    def __init__(self, steps: int) -> None:
        self.remaining = steps

    def spend(self, steps: int, minimum: int = 0) -> None:
        """Subtract steps from the budget.

        Args:
            steps: the number of steps.
            minimum: the number of steps that must remain.

        Raises:
            StepLimitError: fewer steps than the minimum remain.
        """
        self.remaining -= steps
        if self.remaining < minimum:
            raise StepLimitError


_MAX_PROOF_STEPS = 450
"""Steps of one proof."""
_MAX_NESTED_SPLITS = 4
"""Nested case distinctions in one proof."""
_VALUE_KEYWORDS = ANNOTATIONS - {"format"} | {"type", "enum", "const"}
_NUMBER_TYPES = frozenset(("integer", "fraction"))


class InclusionProof:
    """Proves that a receiver's schema accepts every value that a sender's schema allows.

    Args:
        sender: the schema of the values that are sent.
        receiver: the schema that accepts or rejects them.
        budget: the steps that this and other proofs may take.
        only_declared: assume that senders use no undeclared names: where the sender's schema
            lists properties of an object and does not mention additional ones, there are none.
    """

    def __init__(
        self,
        sender: SchemaVersion,
        receiver: SchemaVersion,
        budget: StepBudget,
        *,
        only_declared: bool,
    ) -> None:
        self.sender = sender
        self.receiver = receiver
        self.only_declared = only_declared
        self._shares_definitions = sender.shares_definitions(receiver)
        self._budget = budget
        self._min_remaining = 0
        self._split_depth = 0
        self._assumptions: list[tuple[tuple[int, ...], int]] = []
        # Schemas created here must stay alive: a freed object's id() could be used again.
        self._alive: list[Any] = []
        self._contains_reference: dict[int, bool] = {}

    def prove(self, sent: Conjunction, accepted: Conjunction) -> bool:
        """Return whether every value of the sender's conjunction is proved to be accepted.

        Args:
            sent: the sender's schemas, which all apply to a value.
            accepted: the receiver's schemas, which all have to accept it.
        """
        if not self.sender.has_same_semantics(self.receiver):
            return False
        self._min_remaining = max(0, self._budget.remaining - _MAX_PROOF_STEPS)
        try:
            return all(self.accepts_all(sent, part) for part in accepted)
        except (StepLimitError, RecursionError):
            return False
        finally:
            self._assumptions.clear()
            self._split_depth = 0

    def spend(self, steps: int) -> None:
        """Subtract steps from the budget of this proof."""
        self._budget.spend(steps, self._min_remaining)

    def accepts_all(self, sent: Conjunction, schema: Any) -> bool:
        """Return whether a schema of the receiver accepts every value of a conjunction.

        Raises:
            StepLimitError: the proof needs too many steps.
        """
        if schema is True or schema == {}:
            return True
        self.spend(1 + len(sent) // 4)
        if any(part is schema for part in sent) and self.has_same_meaning(schema):
            return True
        limits = ValueLimits(sent)
        if limits.is_impossible:
            return True
        goal = (tuple(map(id, sent)), id(schema))
        if goal in self._assumptions:
            # Recursive schemas: assume the goal while proving it. A smallest counterexample
            # would contain a smaller counterexample at this recursion.
            return True
        self._alive += (sent, schema)
        self._assumptions.append(goal)
        try:
            parts = self.receiver.get_conjunction(schema)
            self._alive.append(parts)
            if all(self._part_accepts_all(sent, limits, part) for part in parts):
                return True
            return self._accepts_each_case(sent, limits, schema)
        finally:
            self._assumptions.pop()

    def _accepts_each_case(
        self, sent: Conjunction, limits: ValueLimits, schema: Any
    ) -> bool:
        """Return whether a schema accepts each branch, or each type, of the sent values.

        False if there is nothing to split, or if too many splits are nested.
        """
        if self._split_depth >= _MAX_NESTED_SPLITS:
            return False
        cases = list(self._split_cases(sent, limits))
        if not cases:
            return False
        self._split_depth += 1
        try:
            return all(self.accepts_all(case, schema) for case in cases)
        finally:
            self._split_depth -= 1

    def _split_cases(
        self, sent: Conjunction, limits: ValueLimits
    ) -> Iterator[Conjunction]:
        cases = self.sender.split_cases(sent)
        if cases:
            yield from cases
            return
        if len(limits.types) > 1:
            types = limits.types
            if "fraction" in types:
                types = types - _NUMBER_TYPES | {"number"}
            for type_name in sorted(types):
                yield (*sent, {"type": type_name})

    def _part_accepts_all(
        self, sent: Conjunction, limits: ValueLimits, part: Any
    ) -> bool:
        """Return whether one part of the receiver's conjunction accepts every sent value."""
        if part is False:
            return False
        if self.has_same_meaning(part) and any(
            is_equal_json(part, sent_part)
            and has_same_unevaluated(self, sent_part, part)
            for sent_part in sent
        ):
            return True
        if limits.has_few_values and not self._has_reference(part):
            return self._accepts_each_value(sent, limits, part)
        if not limits.types <= get_allowed_types(part):
            return False
        # Sent values are not enumerated here, so an `enum` cannot include all of them.
        if "enum" in part or "const" in part:
            return False
        types = limits.types
        if types & _NUMBER_TYPES and not _accepts_numbers(limits, part):
            return False
        if "string" in types and not _accepts_strings(limits, part):
            return False
        if "string" in types and not self._accepts_format(limits, part):
            return False
        if "array" in types and not accepts_arrays(self, limits, part):
            return False
        if "object" in types and not accepts_objects(self, sent, limits, part):
            return False
        return self._combinators_accept_all(sent, part)

    def _accepts_format(self, limits: ValueLimits, part: Mapping[str, Any]) -> bool:
        name = part.get("format")
        is_asserted = self.receiver.asserts_formats and name in ASSERTED_FORMATS
        return not is_asserted or name in limits.get_all("format")

    def _combinators_accept_all(
        self, sent: Conjunction, part: Mapping[str, Any]
    ) -> bool:
        """Return whether `anyOf`, `oneOf`, `not` and `if` of a part accept every sent value."""
        # Merging removes resolvable references, so a remaining one is unresolvable.
        if any(isinstance(part.get(keyword), str) for keyword in REFERENCES):
            return False
        branches = part.get("anyOf")
        if isinstance(branches, list) and not any(
            self.accepts_all(sent, branch) for branch in branches
        ):
            return False
        branches = part.get("oneOf")
        if isinstance(branches, list) and not self._exactly_one_accepts_all(
            sent, branches
        ):
            return False
        if "not" in part and not self._is_disjoint(sent, part["not"]):
            return False
        if "if" in part and ("then" in part or "else" in part):
            then_schema, else_schema = part.get("then", True), part.get("else", True)
            if not self.accepts_all(sent, else_schema):
                return self.accepts_all(sent, part["if"]) and self.accepts_all(
                    sent, then_schema
                )
            if not self.accepts_all(sent, then_schema):
                # `then` has to accept only the values that match `if`.
                matching = (*sent, *self.receiver.get_conjunction(part["if"]))
                return not self._has_reference(part["if"]) and self.accepts_all(
                    matching, then_schema
                )
        return True

    def _exactly_one_accepts_all(self, sent: Conjunction, branches: list[Any]) -> bool:
        """Return whether one branch accepts every sent value, and no other branch any."""
        for index, branch in enumerate(branches):
            if self.accepts_all(sent, branch):
                branch_parts = self.receiver.get_conjunction(branch)
                other_branches = (*branches[:index], *branches[index + 1 :])
                return all(
                    self._is_disjoint(sent, other)
                    or are_disjoint(branch_parts, self.receiver.get_conjunction(other))
                    for other in other_branches
                )
        return False

    def _is_disjoint(self, sent: Conjunction, schema: Any) -> bool:
        """Return whether a schema of the receiver surely accepts none of the sent values.

        False if that cannot be proved.
        """
        self.spend(1 + len(sent) // 4)
        if are_disjoint(sent, self.receiver.get_conjunction(schema)):
            return True
        # A `not` of the sender excludes the schema's values if it accepts all of them.
        reverse = InclusionProof(
            self.receiver, self.sender, self._budget, only_declared=False
        )
        reverse._min_remaining = self._min_remaining
        return any(
            isinstance(part, dict)
            and "not" in part
            and reverse.accepts_all(self.receiver.get_conjunction(schema), part["not"])
            for part in sent
        )

    def _accepts_each_value(
        self, sent: Conjunction, limits: ValueLimits, part: Mapping[str, Any]
    ) -> bool:
        """Return whether each enumerated value is valid for a part, or is never sent."""
        self.spend(1 + len(limits.values or ()) // 4)
        rejected = [
            value
            for value in limits.values or ()
            if _is_valid(value, part, self.receiver) is not True
        ]
        return all(self._is_never_sent(value, sent) for value in rejected)

    def _is_never_sent(self, value: Any, sent: Conjunction) -> bool:
        schemas = [get_undivided(part) for part in sent if isinstance(part, dict)]
        return any(
            not self._has_reference(schema)
            and _is_valid(value, schema, self.sender) is False
            for schema in schemas
        )

    def has_same_meaning(self, schema: Any) -> bool:
        """Return whether a schema means the same in both versions, with its references."""
        return self._shares_definitions or not self._has_reference(schema)

    def _has_reference(self, schema: Any) -> bool:
        """Return whether a schema contains a reference at any depth; the result is cached."""
        if not isinstance(schema, (dict, list)):
            return False
        found = self._contains_reference.get(id(schema))
        if found is None:
            children = schema.values() if isinstance(schema, dict) else schema
            found = isinstance(schema, dict) and any(
                keyword in schema for keyword in REFERENCES
            )
            found = found or any(self._has_reference(child) for child in children)
            self._contains_reference[id(schema)] = found
            self._alive.append(schema)
        return found


def accept_same_values(
    versions: tuple[SchemaVersion, SchemaVersion],
    schemas: tuple[Any, Any],
    budget: StepBudget,
) -> bool:
    """Return whether two schemas are proved to accept the same values.

    Args:
        versions: the versions that contain the schemas.
        schemas: the two schemas.
        budget: the steps that the proof may take.
    """
    for version, schema in zip(versions, schemas, strict=True):
        for part in version.collect_applicable(schema):
            # The effect of `unevaluatedProperties` depends on keywords of other schemas.
            if any(keyword.startswith("unevaluated") for keyword in part):
                return False
    first, second = versions
    first_parts = first.get_conjunction(schemas[0])
    second_parts = second.get_conjunction(schemas[1])
    forward = InclusionProof(first, second, budget, only_declared=False)
    backward = InclusionProof(second, first, budget, only_declared=False)
    return forward.prove(first_parts, second_parts) and backward.prove(
        second_parts, first_parts
    )


def _is_valid(
    value: Any, schema: Mapping[str, Any], version: SchemaVersion
) -> bool | None:
    """Return whether a value is valid for a schema without references.

    None means that no validator can be built for the schema.
    """
    if schema.keys() <= _VALUE_KEYWORDS:
        limits = ValueLimits((schema,))
        if limits.values is not None:
            return any(
                is_equal_json(value, valid_value) for valid_value in limits.values
            )
    dialect = {} if version.dialect is None else {"$schema": version.dialect}
    try:
        validator = build_validator(
            {**schema, **dialect}, asserts_formats=version.asserts_formats
        )
        return bool(validator.is_valid(value))
    except ValueError:
        return None


def are_disjoint(first: Conjunction, second: Conjunction) -> bool:
    """Return whether no value can be valid for two conjunctions; False if unknown.

    Types, bounds and enum values are compared, those of required properties included.
    """
    limits = ValueLimits((*first, *second))
    if limits.is_impossible:
        return True
    if limits.types != {"object"}:
        return False
    # Alternatives usually differ in a required property with a constant value.
    for name in limits.required_names:
        property_schemas = [
            properties[name]
            for properties in limits.get_all("properties")
            if isinstance(properties.get(name), dict)
        ]
        if ValueLimits(tuple(property_schemas)).is_impossible:
            return True
    return False


def _accepts_numbers(limits: ValueLimits, part: Mapping[str, Any]) -> bool:
    own_limits = ValueLimits((part,))
    only_integers = limits.has_only_integers
    bounds = (("minimum", -1), ("maximum", 1))
    for (keyword, sign), sent in zip(bounds, limits.sent_bounds, strict=True):
        accepted = own_limits.get_bound(keyword, as_integer=only_integers)
        # A sender without `maximum` (`minimum`) is assumed to send integers up to
        # 2**53 - 1. A receiver that adds exactly this bound then rejects nothing.
        adds_safe_bound = (
            accepted == Bound(sign * MAX_SAFE_INTEGER) and sent.value == sign * math.inf
        )
        sent_limit = (sign * sent.value, not sent.is_exclusive)
        accepted_limit = (sign * accepted.value, not accepted.is_exclusive)
        if sent_limit > accepted_limit and not adds_safe_bound:
            return False
    return _accepts_divisor(limits, part.get("multipleOf"))


def _accepts_divisor(limits: ValueLimits, divisor: Any) -> bool:
    """Return whether all numbers within limits are surely multiples of a divisor.

    None as divisor accepts all numbers. A divisor that is not an integer is accepted
    only if the sender has the same one.
    """
    if divisor is None:
        return True
    sent_divisors = limits.get_all("multipleOf")
    if not isinstance(divisor, int):
        return divisor in sent_divisors
    if divisor == 1 and limits.has_only_integers:
        return True
    return any(
        isinstance(sent_divisor, int) and sent_divisor % divisor == 0
        for sent_divisor in sent_divisors
    )


def _accepts_strings(limits: ValueLimits, part: Mapping[str, Any]) -> bool:
    if limits.get_minimum("minLength") < part.get("minLength", 0):
        return False
    if "maxLength" in part and limits.get_maximum("maxLength") > part["maxLength"]:
        return False
    return "pattern" not in part or any(
        includes_pattern(part["pattern"], pattern)
        for pattern in limits.get_all("pattern")
    )
