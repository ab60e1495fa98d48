"""Search for counterexamples: values that are valid for a sender's schema, not for a receiver's.

For `parameters` these are arguments that were valid and are invalid now, for `returns` results
that are valid now and were invalid before. Each candidate is validated with both schemas. That
no example is found proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from toolcast_runtime.core.validation.limits import count_max_visits

from ..change import ABSENT
from .example_candidates import CandidateGenerator
from .schema_version import (
    Acceptor,
    SchemaVersion,
    list_property_schemas,
    lists_all_names,
)

_MAX_WORK_UNITS = 100_000
"""Work on the examples of one comparison, counted in visited schema locations."""
_MAX_EXAMPLES = 600
"""Examples that are validated in one comparison."""
_MAX_VISITS = 500
"""Paths through references to one location; with more, no example is validated."""
_MAX_VISIT_DEPTH = 6
"""Levels of a value for which these paths are counted."""


def find_examples(
    sender: Acceptor,
    receiver: Acceptor,
    versions: Mapping[int, SchemaVersion],
    suspects: Sequence[int],
) -> tuple[dict[int, Any], Any]:
    """Return a counterexample for each change, and one that only all changes together reject.

    Args:
        sender: the schema of the values that are sent.
        receiver: the schema that may reject them.
        versions: the receiver's schema if each change were the only one, by the change's index.
        suspects: the changes that make fewer values valid by their kind. A value that one of
            them rejects is no example of another change.

    Returns:
        The examples by the index of the change, and ABSENT or the example of all changes,
        which is present only if no change has an example.
    """
    examples: dict[int, Any] = {}
    combined_example: Any = ABSENT
    try:
        receivers = _build_receivers(sender, receiver, versions)
    except ValueError:
        return {}, ABSENT
    max_examples = min(
        _count_affordable_examples(sender.version),
        _count_affordable_examples(receiver.version),
    )
    candidates = CandidateGenerator(sender.version, receiver.version)
    for value in islice(candidates.list_values(), max_examples):
        # Only a value that is valid for the sender and not for the receiver is an example.
        if receiver.accepts(value) or not sender.accepts(value):
            continue
        if not _has_only_declared_names(sender.version, [sender.version.root], value):
            continue
        rejecting = [
            index
            for index, single_receiver in receivers.items()
            if not single_receiver.accepts(value)
        ]
        # If no single change rejects the value, only the changes together do.
        if not rejecting and combined_example is ABSENT:
            combined_example = value
        rejecting_suspects = [index for index in rejecting if index in suspects]
        for index in rejecting_suspects or rejecting:
            examples.setdefault(index, value)
        # Stop when each suspect has an example.
        if suspects and examples.keys() >= set(suspects):
            break
    return examples, ABSENT if examples else combined_example


def _build_receivers(
    sender: Acceptor, receiver: Acceptor, versions: Mapping[int, SchemaVersion]
) -> dict[int, Acceptor]:
    """Return an acceptor for each version, and build the validators of all acceptors.

    Raises:
        ValueError: a validator cannot be built.
    """
    # The first call builds a validator, so errors are raised before the search.
    sender.accepts(None)
    receiver.accepts(None)
    receivers: dict[int, Acceptor] = {}
    for index, version in versions.items():
        if version is receiver.version:
            receivers[index] = receiver
        else:
            receivers[index] = Acceptor(version, is_closed=receiver.is_closed)
        receivers[index].accepts(None)
    return receivers


def _count_affordable_examples(version: SchemaVersion) -> int:
    """Return how many examples can be validated, at most 600.

    0 if references lead to too many paths.
    """
    visits: int | None = 1
    if version.has_references:
        visits = count_max_visits(version.root, _MAX_VISIT_DEPTH, _MAX_VISITS)
    if visits is None:
        return 0
    units_per_example = len(version.paths_by_id) + 1 + 10 * visits
    return min(_MAX_EXAMPLES, _MAX_WORK_UNITS // units_per_example)


def _has_only_declared_names(
    version: SchemaVersion, schemas: list[Any], value: Any
) -> bool:
    """Return whether a value has no property that a client would not know from the schema.

    Other properties can be valid, but are no convincing example. See `lists_all_names`.
    """
    applicable = version.collect_applicable(*schemas)
    if isinstance(value, list):
        item_schemas = [version.get_item_schemas(part) for part in applicable]
        contained = [part["contains"] for part in applicable if "contains" in part]
        return all(
            _has_only_declared_names(
                version,
                [*contained, *(items.get_schema(index) for items in item_schemas)],
                item,
            )
            for index, item in enumerate(value)
            if isinstance(item, (list, dict))
        )
    if not isinstance(value, dict):
        return True
    can_have_other_names = not lists_all_names(applicable)
    keyword = "additionalProperties"
    additional = [part[keyword] for part in applicable if keyword in part]
    for name, property_value in value.items():
        property_schemas = [
            schema
            for part in applicable
            for schema in list_property_schemas(part, name, include_additional=False)
        ]
        if not property_schemas and not can_have_other_names:
            return False
        if not _has_only_declared_names(
            version, property_schemas or additional, property_value
        ):
            return False
    return True
