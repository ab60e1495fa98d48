"""What a model sent, as the spec says it: the inverse of a rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...validation.compiled import build
from .json_types import is_of_type, types_of
from .rendered import RenderedSchema

__all__ = ["restored_arguments"]

_WHOLE = "urn:toolcast:rendered"
_MEMBER = "urn:toolcast:member"


def restored_arguments(
    sent: Mapping[str, Any], rendered: RenderedSchema
) -> dict[str, Any]:
    """The arguments in the spec's words.

    A null that stands for an absent optional property is left out, names of properties become
    the spec's. Nothing else changes, and nothing is ever added: what is not valid comes back
    as it was sent, for the call to refuse.

    Args:
        sent: valid for the rendered schema, or not.
        rendered: the schema that the provider was given.
    """
    if not rendered.undo:
        return dict(sent)
    restored: dict[str, Any] = _Restoring(rendered).value(sent, rendered.schema)
    return restored


class _Restoring:
    def __init__(self, rendered: RenderedSchema) -> None:
        self._rendered = rendered
        self._root = rendered.schema

    def value(self, value: Any, schema: Any) -> Any:
        """A value of a rendered schema, in the spec's words."""
        if isinstance(value, Mapping):
            return self._object(value, schema)
        if isinstance(value, list):
            return self._list(value, schema)
        return value

    def _object(self, value: Mapping[str, Any], schema: Any) -> dict[str, Any]:
        here = list(self._here(value, schema))
        restored: dict[str, Any] = {}
        for name, inner in value.items():
            old = name
            for one in here:
                undo = self._rendered.undo_of(one)
                if inner is None and name in undo.absent:
                    break
                old = undo.names.get(name, old)
                further = one.get("additionalProperties")
                inner = self.value(inner, one.get("properties", {}).get(name, further))
            else:
                restored[old] = inner
        return restored

    def _list(self, value: list[Any], schema: Any) -> list[Any]:
        restored = list(value)
        for one in self._here(value, schema):
            places = one.get("prefixItems", [])
            for index, item in enumerate(restored):
                inner = places[index] if index < len(places) else one.get("items")
                restored[index] = self.value(item, inner)
        return restored

    def _here(self, value: Any, schema: Any) -> Iterator[Mapping[str, Any]]:
        """The schemas that a value was sent by: of alternatives the first that takes it."""
        waiting, seen = [schema], set[int]()
        while waiting:
            one = waiting.pop()
            if isinstance(one, Mapping) and id(one) not in seen:
                seen.add(id(one))
                yield one
                waiting.extend(one.get("allOf", ()))
                for keyword in ("anyOf", "oneOf"):
                    if keyword in one:
                        waiting.append(self._chosen(value, one[keyword]))
                waiting.append(self._target(one.get("$ref")))

    def _chosen(self, value: Any, members: list[Any]) -> Any:
        possible = [one for one in members if self._may_be(value, one)]
        if len(possible) < 2:
            return possible[0] if possible else None
        for member in possible:
            # In the whole, where references of the member lead to what they name.
            parts = {**self._root.get("$defs", {}), _MEMBER: member}
            whole = {**self._root, "$id": _WHOLE, "$defs": parts}
            alone = {"$ref": f"{_WHOLE}#/$defs/{_MEMBER}", "$defs": {_MEMBER: whole}}
            if build(alone).is_valid(value):
                return member
        return None

    def _may_be(self, value: Any, schema: Any) -> bool:
        """Whether a value is of a type that a schema names, references followed."""
        for _ in range(len(self._root.get("$defs", ())) + 2):
            if not isinstance(schema, Mapping):
                return False
            if "type" in schema or "$ref" not in schema:
                break
            schema = self._target(schema["$ref"])
        return is_of_type(value, types_of(schema))

    def _target(self, reference: Any) -> Any:
        if reference == "#":
            return self._root
        if not isinstance(reference, str):
            return None
        name = reference.removeprefix("#/$defs/").replace("~1", "/").replace("~0", "~")
        return self._root.get("$defs", {}).get(name)
