"""Comparison of two schemas: walks all pairs of subschemas that apply to the same location."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...json_schema.graph import JsonSchema
from ..change import ABSENT, is_equal_json
from .branch_changes import (
    compare_alternatives_with_schema,
    compare_branches,
    get_alternatives_keyword,
)
from .container_changes import compare_arrays, compare_objects
from .inclusion import StepBudget, accept_same_values
from .keyword_changes import (
    compare_annotations,
    compare_references,
    compare_value_keywords,
)
from .schema_pairs import (
    Difference,
    PendingPair,
    SchemaLocation,
    SchemaPair,
    build_pair,
    build_pending_root,
    build_root_pair,
)
from .schema_version import ANNOTATIONS, SchemaVersion, has_references

_MAX_PAIRS = 1_200
"""Pairs of schema locations that one comparison visits."""
_MAX_REWRITE_STEPS = 250
"""Steps of all proofs in one comparison that rewritten schemas accept the same values."""
_COMBINATORS = frozenset(("allOf", "anyOf", "oneOf", "not", "if"))


class SchemaTooLargeError(Exception):
    """Schemas with more pairs of locations than the comparison allows."""


def find_differences(
    before: SchemaVersion, after: SchemaVersion, root_label: str
) -> list[Difference]:
    """Return the differences between two schemas, in the order of the new one.

    Args:
        before: the old schema.
        after: the new schema.
        root_label: the name of a value of the schemas in messages, such as: a call.

    Raises:
        SchemaTooLargeError: the comparison needs too many pairs of subschemas.
    """
    differences: list[Difference] = []
    seen: set[tuple[Any, ...]] = set()
    reported: set[tuple[Any, ...]] = set()
    budget = StepBudget(_MAX_REWRITE_STEPS)
    # Keep the pairs alive: `seen` contains id() values, which Python reuses for new objects.
    visited: list[SchemaPair] = []
    stack = [build_pending_root(before, after)]
    no_references = not before.has_references and not after.has_references
    while stack:
        pending = stack.pop()
        old, new = pending.before.schema, pending.after.schema
        key = (
            *_get_location_key(pending.before),
            *_get_location_key(pending.after),
            pending.direction,
        )
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > _MAX_PAIRS:
            raise SchemaTooLargeError
        # Skip equal schemas, unless they have references, whose targets can differ.
        if (no_references or not has_references(old)) and is_equal_json(old, new):
            continue
        pair = build_pair(pending, before, after, root_label)
        visited.append(pair)
        subpairs: list[PendingPair] = []
        for result in _compare_pair(pair, budget):
            if isinstance(result, PendingPair):
                subpairs.append(result)
            elif result.key not in reported:
                # A definition with several references is reported once.
                reported.add(result.key)
                differences.append(result)
        stack += reversed(subpairs)
    return differences


def _get_location_key(location: SchemaLocation) -> tuple[Any, ...]:
    # `True` and `False` are singletons, so only the path identifies a boolean schema.
    if isinstance(location.schema, dict):
        return (id(location.schema),)
    return location.path


def _compare_pair(
    pair: SchemaPair, budget: StepBudget
) -> Iterator[Difference | PendingPair]:
    """Yield the differences of two schemas, and the pairs of subschemas to compare next."""
    before, after = pair.nodes
    yield from compare_annotations(pair)
    yield from compare_references(pair)
    if _is_rewritten(pair, budget):
        # Both schemas accept the same values: only annotations in branches can differ.
        for result in compare_branches(pair):
            if isinstance(result, PendingPair):
                yield result
        return
    old_is_choice, new_is_choice = (
        bool(get_alternatives_keyword(node)) for node in pair.nodes
    )
    accepts_any_value = any(
        ANNOTATIONS.issuperset(node.keywords) for node in pair.nodes
    )
    if old_is_choice != new_is_choice and not accepts_any_value:
        yield from compare_alternatives_with_schema(pair)
        return
    yield from compare_value_keywords(pair)
    if before.is_false or after.is_false:
        return
    yield from compare_objects(pair)
    yield from compare_arrays(pair)
    yield from compare_branches(pair)


def _is_rewritten(pair: SchemaPair, budget: StepBudget) -> bool:
    """Return whether schemas are proved to be rewritten: they accept the same values.

    False if neither has branches or a condition, or if the budget of steps is
    exhausted.
    """
    if all(_COMBINATORS.isdisjoint(node.keywords) for node in pair.nodes):
        return False
    schemas = pair.before.original, pair.after.original
    return accept_same_values(pair.versions, schemas, budget)


def find_hidden_descriptions(
    before: SchemaVersion,
    after: SchemaVersion,
    differences: Sequence[Difference],
    root_label: str,
) -> Iterator[Difference]:
    """Yield differences of descriptions that the comparison of pairs does not read.

    A description next to a `$ref` overrides the description of the definition, but a model
    gets the schema with both. Only texts that the old schema has nowhere are yielded.

    Args:
        before: the old schema.
        after: the new schema.
        differences: the differences that were found.
        root_label: the name of a value of the schemas in messages.
    """
    old_schemas = JsonSchema(before.root).subschemas
    old_texts = [schema.get("description") for schema in old_schemas.values()]
    reported_paths = {difference.path for difference in differences}
    for path, schema in JsonSchema(after.root).subschemas.items():
        text = schema.get("description")
        if path not in old_schemas or not isinstance(text, str) or text in old_texts:
            continue
        text_path = (*path, "description")
        parents = (text_path[:length] for length in range(1, len(text_path) + 1))
        if not reported_paths.isdisjoint(parents):
            continue
        old_text = old_schemas[path].get("description", ABSENT)
        name = f"`{path[-1]}`" if path else root_label
        yield Difference(
            "description-set" if old_text is ABSENT else "description-changed",
            text_path,
            old_text,
            text,
            f"the description of {name}, which another description overrides, is new",
            (),
            build_root_pair(before, after, root_label),
        )
