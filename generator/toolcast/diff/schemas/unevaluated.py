"""Proofs about `unevaluatedProperties` and `unevaluatedItems`.

Both keywords apply only to the properties or items that no other keyword of their schema
evaluates, including its branches and references (JSON Schema 2020-12, core, 11).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from toolcast_runtime.core.validation.references import REFERENCES

from ..change import is_equal_json
from .schema_version import (
    MAX_PARTS,
    UNEVALUATED_KEYWORDS,
    Conjunction,
    SchemaVersion,
    get_undivided,
)

_ALL = ("all", "")
"""The member of a set of evaluated properties or items that includes all of them."""
_BRANCH_KEYWORDS: tuple[tuple[str, ...], ...] = (
    ("anyOf",),
    ("oneOf",),
    ("if", "then", "else"),
    ("dependentSchemas",),
    ("dependencies",),
)
_CONDITIONAL_KEYWORDS = {
    "unevaluatedProperties": _BRANCH_KEYWORDS,
    # Since 2020-12, `contains` evaluates the items that match (core, 10.3.1.3).
    "unevaluatedItems": (*_BRANCH_KEYWORDS, ("contains",)),
}
"""Keywords for which the value decides what they evaluate, grouped by common effect."""

_Evaluated = set[tuple[str, str | int]]


class Proof(Protocol):
    """The proof that these functions are a part of; see `InclusionProof`.

    Attributes:
        sender: the schema of the values that are sent.
        receiver: the schema that accepts or rejects them.
        only_declared: whether senders are assumed to use no undeclared names.
    """

    sender: SchemaVersion
    receiver: SchemaVersion
    only_declared: bool

    def accepts_all(self, sent: Conjunction, schema: Any) -> bool:
        """Return whether a schema of the receiver accepts every value of a conjunction."""

    def spend(self, steps: int) -> None:
        """Subtract steps from the budget of the proof."""

    def has_same_meaning(self, schema: Any) -> bool:
        """Return whether a schema means the same in both versions."""


def accepts_unevaluated(
    proof: Proof, sent: Conjunction, part: Mapping[str, Any], keyword: str
) -> bool:
    """Return whether a part accepts what it does not evaluate, because a sent part does.

    Args:
        proof: the proof.
        sent: the sender's conjunction.
        part: the part of the receiver's conjunction.
        keyword: `unevaluatedProperties` or `unevaluatedItems`.
    """
    schema = part.get(keyword, True)
    return schema is True or any(
        proof.accepts_all(proof.sender.get_conjunction(sent_part[keyword]), schema)
        and _evaluates_all(proof, sent_part, part, keyword)
        for sent_part in sent
        if isinstance(sent_part, dict) and keyword in sent_part
    )


def has_same_unevaluated(
    proof: Proof, sent_part: Mapping[str, Any], part: Mapping[str, Any]
) -> bool:
    """Return whether the `unevaluated*` keywords of two equal parts reject the same values.

    The receiver's part may also reject fewer values.
    """
    return all(
        _evaluates_all(proof, sent_part, part, keyword)
        for keyword in UNEVALUATED_KEYWORDS
        if keyword in part
    )


def list_evaluated_names(version: SchemaVersion, part: Mapping[str, Any]) -> set[str]:
    """Return the properties that a part of a conjunction evaluates for every value.

    These are its `properties`, and the properties in its `allOf` and reference targets.
    """
    return {
        name
        for applied in version.get_conjunction(get_undivided(part))
        if isinstance(applied, dict)
        for name in applied.get("properties", ())
    }


def _evaluates_all(
    proof: Proof, sent_part: Mapping[str, Any], part: Mapping[str, Any], keyword: str
) -> bool:
    """Return whether the receiver's part evaluates all that the sender's part evaluates.

    False if that cannot be proved.
    """
    sent_schema, schema = get_undivided(sent_part), get_undivided(part)
    if is_equal_json(sent_schema, schema) and proof.has_same_meaning(schema):
        return True
    applicable = proof.sender.collect_applicable(sent_schema)
    proof.spend(1 + len(applicable) // 4)
    if len(applicable) >= MAX_PARTS or _has_unknown_target(proof.sender, applicable):
        return False
    parts = _list_parts(proof.receiver, schema, keyword)
    evaluated: _Evaluated = set()
    for applied in parts:
        evaluated |= _list_evaluated(proof.receiver, applied, keyword)
    if _ALL in evaluated:
        return True
    return all(
        _list_evaluated(proof.sender, sent_applied, keyword) <= evaluated
        and _evaluates_branches(proof, sent_applied, parts, evaluated, keyword)
        for sent_applied in _list_parts(proof.sender, sent_schema, keyword)
    )


def _evaluates_branches(
    proof: Proof,
    sent_part: Mapping[str, Any],
    parts: list[Mapping[str, Any]],
    evaluated: _Evaluated,
    keyword: str,
) -> bool:
    """Return whether the receiver evaluates all that branches of the sender evaluate.

    Args:
        proof: the proof.
        sent_part: the sender's schema with the branches.
        parts: the receiver's schemas, which may have equal branches.
        evaluated: the properties or items that these evaluate without their branches.
        keyword: `unevaluatedProperties` or `unevaluatedItems`.
    """
    for group in _CONDITIONAL_KEYWORDS[keyword]:
        branches = _pick_keywords(sent_part, group)
        if proof.has_same_meaning(branches) and any(
            is_equal_json(branches, _pick_keywords(part, group)) for part in parts
        ):
            continue
        for branch in proof.sender.collect_applicable(branches):
            if keyword == "unevaluatedItems" and "contains" in branch:
                return False
            if not _list_evaluated(proof.sender, branch, keyword) <= evaluated:
                return False
    return True


def _list_parts(
    version: SchemaVersion, schema: Mapping[str, Any], keyword: str
) -> list[Mapping[str, Any]]:
    """Return a schema without a keyword, and the schemas that always apply with it."""
    own_part, *others = version.get_conjunction(schema)
    own_part = {name: own_part[name] for name in own_part if name != keyword}
    return [own_part, *(other for other in others if isinstance(other, dict))]


def _list_evaluated(
    version: SchemaVersion, schema: Mapping[str, Any], keyword: str
) -> _Evaluated:
    """Return the properties or items that the keywords of a schema evaluate.

    Branches, references and `contains` are ignored.
    """
    # A nested `unevaluated*` keyword evaluates all that is left (core, 11.2 and 11.3).
    if keyword in schema:
        return {_ALL}
    if keyword == "unevaluatedProperties":
        if "additionalProperties" in schema:
            return {_ALL}
        return {
            (name, key)
            for name in ("properties", "patternProperties")
            for key in schema.get(name, ())
        }
    leading, _ = version.get_item_schemas(schema)
    rest_keyword = "additionalItems" if schema.get("items") is leading else "items"
    if rest_keyword in schema:
        return {_ALL}
    return {("items", index) for index in range(len(leading))}


def _pick_keywords(
    schema: Mapping[str, Any], keywords: tuple[str, ...]
) -> dict[str, Any]:
    return {name: schema[name] for name in keywords if name in schema}


def _has_unknown_target(version: SchemaVersion, schemas: list[dict[str, Any]]) -> bool:
    """Return whether a reference has no target, or several depending on the value."""
    for schema in schemas:
        for keyword in REFERENCES:
            is_static = keyword == "$ref"
            if keyword in schema and not (
                is_static and version.resolve_reference(schema) is not None
            ):
                return True
    return False
