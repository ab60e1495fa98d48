"""What the references of a JSON Schema lead to, in every dialect, and never out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from .applicators import in_place

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords whose value names another schema."""

_ANCHORS = ("$anchor", "$dynamicAnchor")
_IDS = ("$id", "id")


class References:
    """The places of a schema by all the ways in which a reference can name them.

    A JSON pointer (`#/$defs/a`), an anchor (`#a`, by `$anchor`, `$dynamicAnchor`, `$id` of
    draft-06 and draft-07, `id` of draft-04), and the address that a part gives itself by
    `$id` or `id`, from which pointers of that part start.

    Args:
        root: the schema, valid or not.
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    def same_value(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """The schemas that a value of this one may be checked against as well.

        All but that of `not`, which says what the value must not be.

        Raises:
            LookupError: a reference leads nowhere in this schema.
        """
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield self.target(schema[keyword])
        yield from in_place(schema)

    def target(self, reference: str) -> Any:
        """What a reference names.

        Raises:
            LookupError: it leads out of the schema, nowhere, or to one of several.
        """
        found = self.targets(reference)
        if len(found) != 1:
            raise LookupError(reference)
        return found[0]

    def targets(self, reference: str) -> list[Any]:
        """Everything that a reference may name; which one can depend on the value.

        Returns:
            Nothing for a reference out of the schema, or to nothing.
        """
        address, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        anchors, resources = self._names
        bases = [self._root, *resources.values()] if not address else []
        if address:
            last = address.rpartition("/")[2]
            bases = [
                part
                for own, part in resources.items()
                if own == address or own.rpartition("/")[2] == last
            ]
        if not fragment:
            return bases if address else bases[:1]
        if fragment.startswith("/"):
            found = [_pointed(base, fragment) for base in bases]
        else:
            found = anchors.get(fragment, [])
        return _distinct(part for part in found if part is not None)

    @cached_property
    def _names(self) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """The parts by their anchors, and by the addresses that they give themselves."""
        anchors: dict[str, list[Any]] = {}
        resources: dict[str, Any] = {}
        waiting = [self._root]
        while waiting:
            part = waiting.pop()
            if isinstance(part, (list, tuple)):
                waiting.extend(part)
            elif isinstance(part, Mapping):
                waiting.extend(part.values())
                for keyword in _ANCHORS:
                    if isinstance(part.get(keyword), str):
                        anchors.setdefault(part[keyword], []).append(part)
                for keyword in _IDS:
                    if isinstance(part.get(keyword), str):
                        address, _, anchor = part[keyword].partition("#")
                        if anchor:
                            anchors.setdefault(anchor, []).append(part)
                        if address:
                            resources[address] = part
        return anchors, resources


def steps_of(base: Any, pointer: str) -> tuple[str | int, ...] | None:
    """The steps of a JSON pointer (RFC 6901) through a value; None when it leads nowhere."""
    found, steps = base, list[str | int]()
    for step in pointer.split("/")[1:]:
        name: str | int = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, (list, tuple)):
            name = int(step) if step.isdecimal() and len(step) < 9 else len(found)
            if name >= len(found):
                return None
        elif not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
        steps.append(name)
    return tuple(steps)


def _pointed(base: Any, pointer: str) -> Any:
    steps = steps_of(base, pointer)
    if steps is None:
        return None
    for step in steps:
        base = base[step]
    return base


def _distinct(parts: Iterator[Any]) -> list[Any]:
    return list({id(part): part for part in parts}.values())
