"""What two readings of one server give otherwise."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..reading.exact_json import exact_text
from .server_listing import KINDS, ServerListing, Variation

__all__ = ["differing", "variations"]


def variations(one: ServerListing, other: ServerListing) -> tuple[Variation, ...]:
    """Where they differ, each place once. The order of entries and of keys says nothing."""
    found = []
    for kind, (_, key) in KINDS.items():
        ones, others = (_by_name(each.entries(kind), key) for each in (one, other))
        for name in dict.fromkeys([*ones, *others]):
            if len(ones[name]) != len(others[name]):
                found.append(Variation(kind, name))
            for entry, twin in zip(ones[name], others[name], strict=False):
                paths = differing(entry, twin)
                found += [Variation(kind, name, path) for path in paths]
    if one.instructions != other.instructions:
        found.append(Variation("instructions", ""))
    return tuple(dict.fromkeys(found))


def _by_name(
    entries: Sequence[Mapping[str, Any]], key: str
) -> Mapping[str, list[Mapping[str, Any]]]:
    named = defaultdict(list)
    for entry in entries:
        named[entry[key]].append(entry)
    return named


def differing(
    one: Any, other: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """The ways to what differs in two values; the order of keys says nothing.

    Arrays of objects that are as long are looked into, others differ as a whole.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if key in one and key in other:
                yield from differing(one[key], other[key], (*path, key))
            else:
                yield (*path, key)
    elif _are_objects(one) and _are_objects(other) and len(one) == len(other):
        for index, (item, twin) in enumerate(zip(one, other, strict=True)):
            yield from differing(item, twin, (*path, index))
    elif exact_text(one) != exact_text(other):
        yield path


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
