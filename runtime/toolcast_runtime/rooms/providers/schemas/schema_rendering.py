"""A schema of a spec in a provider's dialect, and what is lost of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ....core.validation.references import IN_PLACE
from ..loss import Effect, Losses, Severity
from .closed_objects import Closing
from .dialect import Dialect, Inexpressible, Patterns
from .flattening import DEEPEST, Flattening
from .json_types import type_name, typed_values, types_of
from .keywords_of_schemas import (
    DEFINITIONS,
    HELD,
    KNOWN,
    LISTED,
    NAMED,
    REVERSED,
    STANDARD,
    WORDS,
)
from .lost_words import added, told
from .null_spelling import spelled
from .property_names import new_names, renamed, renamed_everywhere
from .rendered import RenderedSchema
from .restating import Restating
from .schema_parts import Path, SchemaParts

_NOT_SIMPLE = ("(?=", "(?!", "(?<", "\\b", "\\B", *(f"\\{n}" for n in range(1, 10)))
_MOST_SCHEMAS = 20_000
_OF_PARAMETERS = 2


def rendered_schema(
    schema: Mapping[str, Any], dialect: Dialect, tool: str, field: str = "parameters"
) -> RenderedSchema:
    """Applies a dialect to the schema of arguments, which are an object, or of a result.

    References are kept or inlined, cycles treated, null is spelled and what the dialect
    has no word for told in the description or dropped, each with a `Loss`. In bounded time,
    whatever the schema is.

    Args:
        schema: of the spec: in any dialect of JSON Schema, references only within it.
        dialect: the provider's.
        tool: the spec's name of the tool, for the losses.
        field: the spec's field that the schema is the value of.

    Raises:
        Inexpressible: the dialect is closed, and no closed schema says this one.
    """
    return _Rendering(schema, dialect, tool, field).whole()


def _is_found(pattern: str, name: str) -> bool | None:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return None


class _Rendering:
    def __init__(
        self, root: Mapping[str, Any], dialect: Dialect, tool: str, name: str
    ) -> None:
        self._dialect = dialect
        self._path: Path = (name,)
        self._parts = SchemaParts(root, self._path)
        self._losses = Losses(tool)
        self._names = new_names(root, dialect.property_names)
        self._flattening = Flattening(self._parts, dialect, self._losses)
        self._restating = Restating(self._parts, dialect, self._losses, self._names)
        self._closing = Closing(self._parts, dialect, self._losses)
        self._absent: dict[int, tuple[frozenset[str], Mapping[str, Any]]] = {}
        self._left = _MOST_SCHEMAS
        self._levels = 0

    def whole(self) -> RenderedSchema:
        has_object = self._path == ("parameters",)
        whole = self._schema(self._parts.root, self._path, is_root=has_object)
        definitions: dict[str, Any] = {}
        for name, target in self._flattening.definitions:  # It grows meanwhile.
            self._flattening.opened = []
            definitions[name] = self._schema(target, self._parts.place(target))
        if definitions:
            whole["$defs"] = definitions
        losses = self._losses.sorted()
        return RenderedSchema(whole, losses, self._absent, self._names)

    def _schema(
        self, schema: Any, path: Path, *, is_root: bool = False
    ) -> dict[str, Any]:
        if not isinstance(schema, Mapping):
            return self._boolean(schema, path)
        if self._levels > DEEPEST or self._left < 0:
            return self._flattening.cut(schema, "$ref", path)
        opened = len(self._flattening.opened)
        self._left -= 1
        self._levels += 1
        try:
            flat, place = self._flattening.flat(schema, path, is_root)
            return self._plain(flat, place, is_root)
        finally:
            self._levels -= 1
            del self._flattening.opened[opened:]

    def _boolean(self, schema: Any, path: Path) -> dict[str, Any]:
        if schema is False:
            return self._flattening.nothing(path)
        if self._dialect.is_closed:
            raise Inexpressible(path, str(path[-1]), "takes any value")
        return {}

    def _plain(
        self, schema: dict[str, Any], path: Path, is_root: bool
    ) -> dict[str, Any]:
        if "$ref" in schema:
            return self._reference(schema)
        if is_root:
            schema = {"type": "object", **schema} | {"type": "object"}
        schema = self._restating.restated(schema, path, is_root)
        if self._dialect.enum_types is not None and not is_root:
            typed = typed_values(schema)
            if typed is None:
                return self._flattening.nothing(path)
            schema = typed
        if self._dialect.is_closed:
            schema = self._closing.typed(schema, path)
        out: dict[str, Any] = {}
        lost: dict[str, Any] = {}
        for key, value in schema.items():
            if key in DEFINITIONS or (
                self._dialect.is_closed and key == "additionalProperties"
            ):
                continue
            if not self._takes(key, value, is_root):
                lost[key] = value
            elif key == "properties" and isinstance(value, Mapping):
                if self._dialect.is_closed:
                    value = {n: s for n, s in value.items() if s is not False}
                out[key] = self._inner(key, value, path)
            else:
                out[key] = self._inner(key, value, path)
        absent = frozenset[str]()
        if self._dialect.is_closed and "object" in (types_of(out) or ()):
            absent = self._closing.close(schema, out, path)
        if self._names:
            absent = frozenset(self._names.get(name, name) for name in absent)
            self._note_names(out, path)
            out = renamed(out, self._names)
        if is_root:
            out = {**out, "properties": out.get("properties", {})}
        if self._dialect.needs_items and "array" in (types_of(out) or ()):
            if self._dialect.is_closed and "items" not in out:
                raise Inexpressible(path, "items", "takes items of any type")
            out.setdefault("items", {})
        self._tell(lost, out, path, is_root)
        if absent:
            self._absent[id(out["properties"])] = absent, out["properties"]
        return spelled(out, self._dialect.nullable)

    def _note_names(self, out: Mapping[str, Any], path: Path) -> None:
        is_closed = out.get("additionalProperties") is False
        is_alone = self._dialect.is_closed or (is_closed and not IN_PLACE & set(path))
        for old, new in self._names.items():
            if old in out.get("properties", ()):
                what = f"it is called `{new}`"
                effect = Effect.WORDS if is_alone else Effect.NARROWER
                self._losses.add((*path, "properties", old), "name", what, effect)
        for pattern in out.get("patternProperties", ()):
            for old, new in self._names.items():
                if _is_found(pattern, old) != _is_found(pattern, new):
                    what = f"`{old}`, which is called `{new}`, is not as it says"
                    place = (*path, "patternProperties", pattern)
                    weight = Severity.WARNING
                    self._losses.add(place, "name", what, Effect.OTHER, weight)

    def _reference(self, schema: dict[str, Any]) -> dict[str, Any]:
        beside = {
            k: v for k, v in schema.items() if k != "$ref" and k not in DEFINITIONS
        }
        if not beside or self._dialect.has_reference_siblings:
            return {"$ref": schema["$ref"], **beside}
        words = {k: v for k, v in beside.items() if self._dialect.takes(k)}
        if not words:
            return {"$ref": schema["$ref"]}
        return {**words, "anyOf": [{"$ref": schema["$ref"]}]}

    def _inner(self, key: str, value: Any, path: Path) -> Any:
        was_reversed = self._losses.is_reversed
        self._losses.is_reversed |= key in REVERSED
        try:
            return self._held(key, value, path)
        finally:
            self._losses.is_reversed = was_reversed

    def _held(self, key: str, value: Any, path: Path) -> Any:
        if key in NAMED and isinstance(value, Mapping):
            return {n: self._schema(one, (*path, key, n)) for n, one in value.items()}
        if key in LISTED and isinstance(value, (list, tuple)):
            is_choice = key in ("anyOf", "oneOf") and any(
                one is not False for one in value
            )
            return [
                self._schema(one, (*path, key, index))
                for index, one in enumerate(value)
                if one is not False or not is_choice
            ]
        if key in HELD and (isinstance(value, Mapping) or self._dialect.is_closed):
            return self._schema(value, (*path, key))
        return value

    def _takes(self, key: str, value: Any, is_root: bool) -> bool:
        dialect = self._dialect
        if not dialect.takes(key, at_root=is_root):
            return False
        if key == "propertyNames" and self._names:
            return False
        if self._levels == _OF_PARAMETERS and key in dialect.lost_of_parameters:
            return False
        if key == "minItems" and dialect.most_min_items is not None:
            return isinstance(value, int) and value <= dialect.most_min_items
        if key == "format" and dialect.formats is not None:
            return value in dialect.formats
        if key == "pattern" and dialect.patterns is Patterns.SIMPLE:
            return not any(part in str(value) for part in _NOT_SIMPLE)
        if key in ("enum", "const") and dialect.enum_types is not None:
            values = value if key == "enum" else [value]
            return all(type_name(one) in dialect.enum_types for one in values)
        return True

    def _tell(
        self, lost: Mapping[str, Any], out: dict[str, Any], path: Path, is_root: bool
    ) -> None:
        """Folds what is lost into the description."""
        if not lost:
            return
        said = frozenset[str]()
        if self._dialect.folds and self._dialect.takes("description", at_root=is_root):
            known = {k: v for k, v in lost.items() if k in KNOWN}
            text, said = told(renamed_everywhere(known, self._names))
            if text:
                out["description"] = added(out.get("description"), text)
        for keyword in lost:
            has_meaning = keyword in STANDARD and keyword not in WORDS
            is_told = keyword in said
            # A model sends the properties that it reads of.
            is_closed = keyword == "additionalProperties" and lost[keyword] is False
            self._losses.add(
                path,
                keyword,
                "told in the description" if is_told else "dropped",
                Effect.WIDER if has_meaning else Effect.WORDS,
                (
                    Severity.WARNING
                    if has_meaning and not is_told and not is_closed
                    else Severity.NOTE
                ),
            )
