"""A schema of a spec in a provider's dialect, and what is lost of it.

The steps of each schema, from the outside to the inside: references and `allOf` are resolved
(`flattening`), what is left is said in the dialect's words and closed (`restating`), the schemas
within are rendered alike, and what the dialect has no word for is told or dropped.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...core.validation.references import IN_PLACE
from .combined_schemas import spelled, type_name, typed_values, types_of
from .dialect import (
    DEFINITIONS,
    HELD,
    KNOWN,
    LISTED,
    NAMED,
    REVERSED,
    STANDARD,
    WORDS,
    Dialect,
    Inexpressible,
)
from .flattening import DEEPEST, Flattening, Path
from .loss import Effect, Loss, Severity, added, told
from .provider_names import renamed, renamed_everywhere
from .restating import close, restated, typed

_NOT_PLAIN = ("(?=", "(?!", "(?<", "\\b", "\\B", *(f"\\{n}" for n in range(1, 10)))
_MOST_SCHEMAS = 20_000
_OF_PARAMETERS = 2


@dataclass(frozen=True)
class RenderedSchema:
    """A schema as a provider takes it, and what its adapter takes back.

    Attributes:
        schema: JSON Schema in the provider's dialect.
        losses: what it does not say any more.
        absent: the properties whose null means that they are absent, by the `id` of the
            rendered `properties` of an object, which stand beside them so that no other has
            that id.
        names: the provider's names of properties by the spec's, where they differ.
    """

    schema: dict[str, Any]
    losses: tuple[Loss, ...] = ()
    absent: Mapping[int, tuple[frozenset[str], Mapping[str, Any]]] = field(
        default_factory=dict
    )
    names: Mapping[str, str] = field(default_factory=dict)

    def absent_of(self, rendered: Mapping[str, Any]) -> frozenset[str]:
        """The properties of a rendered object whose null means that they are absent."""
        found = self.absent.get(id(rendered.get("properties")))
        return frozenset() if found is None else found[0]


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
    return _Rendering(Flattening(schema, dialect, tool, field)).whole(field)


class _Rendering:
    def __init__(self, flattening: Flattening) -> None:
        self._on = flattening
        self._dialect = flattening.dialect
        self._losses = flattening.losses
        self._names = flattening.names
        self._absent: dict[int, tuple[frozenset[str], Mapping[str, Any]]] = {}
        self._left = _MOST_SCHEMAS
        self._levels = 0

    def whole(self, field: str) -> RenderedSchema:
        parts = self._on.parts
        whole = self._schema(parts.root, (field,), is_root=field == "parameters")
        definitions: dict[str, Any] = {}
        for name, target in self._on.definitions:  # It grows meanwhile.
            self._on.opened = []
            definitions[name] = self._schema(target, parts.place(target))
        if definitions:
            whole["$defs"] = definitions
        return RenderedSchema(whole, self._losses.sorted(), self._absent, self._names)

    def _schema(
        self, schema: Any, path: Path, *, is_root: bool = False
    ) -> dict[str, Any]:
        if schema is False:
            return self._on.nothing(path)
        if not isinstance(schema, Mapping):
            if self._dialect.is_closed:
                raise Inexpressible(path, str(path[-1]), "takes any value")
            return {}
        if self._levels > DEEPEST or self._left < 0:
            return self._on.cut(schema, "$ref", path)
        opened = len(self._on.opened)
        self._left -= 1
        self._levels += 1
        try:
            flat, place = self._on.flat(schema, path, is_root)
            if "$ref" in flat:
                return self._reference(flat)
            return self._plain(flat, place, is_root)
        finally:
            self._levels -= 1
            del self._on.opened[opened:]

    def _reference(self, schema: dict[str, Any]) -> dict[str, Any]:
        reference = {"$ref": schema.pop("$ref")}
        beside = {k: v for k, v in schema.items() if k not in DEFINITIONS}
        if self._dialect.has_reference_siblings:
            return {**reference, **beside}
        words = {k: v for k, v in beside.items() if self._dialect.takes(k)}
        return {**words, "anyOf": [reference]} if words else reference

    def _plain(
        self, schema: dict[str, Any], path: Path, is_root: bool
    ) -> dict[str, Any]:
        """A schema without references, in the dialect's words."""
        dialect = self._dialect
        if is_root:
            schema = {"type": "object", **schema} | {"type": "object"}
        schema = restated(self._on, schema, path, is_root)
        if dialect.enum_types is not None and not is_root:
            listed = typed_values(schema)
            if listed is None:
                return self._on.nothing(path)
            schema = listed
        if dialect.is_closed:
            schema = typed(self._on, schema, path)
        out: dict[str, Any] = {}
        lost: dict[str, Any] = {}
        for key, value in schema.items():
            if key in DEFINITIONS or (
                dialect.is_closed and key == "additionalProperties"
            ):
                continue
            if self._takes(key, value, is_root):
                out[key] = self._inner(key, value, path)
            else:
                lost[key] = value
        absent = frozenset[str]()
        if dialect.is_closed and "object" in (types_of(out) or ()):
            absent = close(self._on, schema, out, path)
        if self._names:
            absent = frozenset(self._names.get(name, name) for name in absent)
            self._note_names(out, path)
            out = renamed(out, self._names)
        if is_root:
            out = {**out, "properties": out.get("properties", {})}
        if dialect.needs_items and "array" in (types_of(out) or ()):
            if dialect.is_closed and "items" not in out:
                raise Inexpressible(path, "items", "takes items of any type")
            out.setdefault("items", {})
        self._tell(lost, out, path, is_root)
        if absent:
            self._absent[id(out["properties"])] = absent, out["properties"]
        return spelled(out, dialect.nullable)

    def _inner(self, key: str, value: Any, path: Path) -> Any:
        """The value of a keyword, the schemas in it rendered."""
        was_reversed = self._losses.is_reversed
        self._losses.is_reversed |= key in REVERSED
        try:
            return self._held(key, value, path)
        finally:
            self._losses.is_reversed = was_reversed

    def _held(self, key: str, value: Any, path: Path) -> Any:
        if key in NAMED and isinstance(value, Mapping):
            if key == "properties" and self._dialect.is_closed:
                value = {n: one for n, one in value.items() if one is not False}
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
        if key == "pattern" and dialect.has_plain_patterns:
            return not any(part in str(value) for part in _NOT_PLAIN)
        if key in ("enum", "const") and dialect.enum_types is not None:
            values = value if key == "enum" else [value]
            return all(type_name(one) in dialect.enum_types for one in values)
        return True

    def _note_names(self, out: Mapping[str, Any], path: Path) -> None:
        is_closed = out.get("additionalProperties") is False
        is_alone = self._dialect.is_closed or (is_closed and not IN_PLACE & set(path))
        effect = Effect.WORDS if is_alone else Effect.NARROWER
        for old, new in self._names.items():
            if old in out.get("properties", ()):
                place = (*path, "properties", old)
                self._losses.add(place, "name", f"it is called `{new}`", effect)
            for pattern in out.get("patternProperties", ()):
                if _is_found(pattern, old) != _is_found(pattern, new):
                    what = f"`{old}`, which is called `{new}`, is not as it says"
                    place = (*path, "patternProperties", pattern)
                    weight = Severity.WARNING
                    self._losses.add(place, "name", what, Effect.OTHER, weight)

    def _tell(
        self, lost: Mapping[str, Any], out: dict[str, Any], path: Path, is_root: bool
    ) -> None:
        """Folds what is lost into the description."""
        said = frozenset[str]()
        if self._dialect.takes("description", at_root=is_root):
            known = {k: v for k, v in lost.items() if k in KNOWN}
            text, said = told(renamed_everywhere(known, self._names))
            if text:
                out["description"] = added(out.get("description"), text)
        for keyword in lost:
            has_meaning = keyword in STANDARD and keyword not in WORDS
            # A model sends the properties that it reads of.
            is_closed = keyword == "additionalProperties" and lost[keyword] is False
            is_bad = has_meaning and keyword not in said and not is_closed
            what = "told in the description" if keyword in said else "dropped"
            effect = Effect.WIDER if has_meaning else Effect.WORDS
            weight = Severity.WARNING if is_bad else Severity.NOTE
            self._losses.add(path, keyword, what, effect, weight)


def _is_found(pattern: str, name: str) -> bool | None:
    try:
        return re.search(pattern, name) is not None
    except re.error:
        return None
