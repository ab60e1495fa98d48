"""References within a schema, and the schemas that apply to the same value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

__all__ = ["References"]

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SAME_PLACE = ("if", "then", "else")
_SAME_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_SAME_PLACE_MAPPINGS = ("dependentSchemas", "dependencies")


class References:
    """The references of one schema. None is followed out of it.

    Args:
        root: the schema, in any dialect.
    """

    def __init__(self, root: Any) -> None:
        self._root = root
        self._anchors: dict[str, Any] | None = None

    def same_value(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """The schemas that a value of this one may be checked against as well.

        All but that of `not`, which says what the value must not be.

        Raises:
            LookupError: a reference leads nowhere in this schema.
        """
        for keyword in _REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield self.target(schema[keyword])
        for keyword in _SAME_PLACE:
            if keyword in schema:
                yield schema[keyword]
        for keyword in _SAME_PLACE_LISTS:
            listed = schema.get(keyword)
            yield from listed if isinstance(listed, (list, tuple)) else ()
        for keyword in _SAME_PLACE_MAPPINGS:
            yield from _mapping(schema.get(keyword)).values()

    def target(self, reference: str) -> Any:
        """What a reference names.

        Raises:
            LookupError: it leads out of the schema, nowhere, or to one of several.
        """
        fragment = unquote(reference[1:])
        if not reference.startswith("#"):
            raise LookupError(reference)
        if fragment and not fragment.startswith("/"):
            found = self._all_anchors().get(fragment)
        else:
            found = self._pointed(fragment)
        if found is None:
            raise LookupError(reference)
        return found

    def _pointed(self, fragment: str) -> Any:
        found = self._root
        for step in fragment.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, (list, tuple)) and name.isdecimal():
                found = found[int(name)] if int(name) < len(found) else None
            else:
                found = _mapping(found).get(name)
        return found

    def _all_anchors(self) -> Mapping[str, Any]:
        if self._anchors is not None:
            return self._anchors
        self._anchors = {}
        waiting = [self._root]
        while waiting:
            part = waiting.pop()
            if isinstance(part, (list, tuple)):
                waiting.extend(part)
                continue
            for name in _anchors_of(_mapping(part)):
                # One name in two places: which one is meant depends on the value.
                known = self._anchors.setdefault(name, part)
                self._anchors[name] = part if known is part else None
            waiting.extend(_mapping(part).values())
        return self._anchors


def _anchors_of(schema: Mapping[str, Any]) -> Iterator[str]:
    for keyword in ("$anchor", "$dynamicAnchor"):
        if isinstance(schema.get(keyword), str):
            yield schema[keyword]
    # Draft-04 and draft-06 write `id: "#name"` and `$id: "#name"`.
    for keyword in ("id", "$id"):
        text = schema.get(keyword)
        if isinstance(text, str) and text.startswith("#"):
            yield text[1:]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
