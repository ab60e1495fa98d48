"""Rendering of a spec's schema in a provider's dialect, and the resulting losses.

Each schema is rendered from the outside to the inside: references and `allOf` are resolved, the other
keywords are replaced by those of the dialect, and objects are closed (`flattening`). Then the
subschemas are rendered the same way. Keywords that the dialect lacks are stated in the description or
dropped. The inverse is in `argument_restoration`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.validation.references import (
    IN_PLACE,
)
from .closed_objects import add_implied_type, close
from .combined_schemas import (
    add_value_types,
    get_type_name,
    get_types,
    matches_pattern,
    spell_nullable,
)
from .dialect import (
    DEFINITIONS,
    HELD,
    KNOWN,
    LISTED,
    NAMED,
    REVERSED,
    STANDARD,
    SUBSCHEMA_KEYWORDS,
    WORDS,
    Dialect,
    Effect,
    InexpressibleError,
    Loss,
    Severity,
    append_text,
)
from .flattening import (
    MAX_DEPTH,
    Flattener,
    describe_keywords,
    get_last_name,
    replace_keywords,
)
from .provider_names import rename_properties
from .schema_parts import Path

_DEPENDENT_KEYWORDS = {
    "if": ("then", "else"),
    "contains": ("minContains", "maxContains"),
}
"""Keywords that have no effect without the keyword before them, and are lost with it."""
_LOST = object()
_MAX_SCHEMAS = 20_000
"""Maximum number of subschemas in one rendered schema; further ones are cut."""
_PARAMETER_LEVEL = 2
"""The nesting level of a parameter's schema; the root has the level 1."""


@dataclass(frozen=True)
class RenderedSchema:
    """Schema in a provider's dialect, with the data to convert arguments back.

    Attributes:
        schema: JSON Schema in the provider's dialect.
        losses: the parts of the spec's schema that it cannot express.
        absent: the properties that are omitted if they are null, by the `id` of the rendered
            `properties` of an object. The `properties` are stored with them, so that the `id`
            cannot be reused.
        names: the provider's property names by the spec's, where they differ.
    """

    schema: dict[str, Any]
    losses: tuple[Loss, ...] = ()
    absent: Mapping[int, tuple[frozenset[str], Mapping[str, Any]]] = field(
        default_factory=dict
    )
    names: Mapping[str, str] = field(default_factory=dict)

    def get_absent(self, rendered: Mapping[str, Any]) -> frozenset[str]:
        """Return the names of an object's properties for which null means omitted."""
        entry = self.absent.get(id(rendered.get("properties")))
        return frozenset() if entry is None else entry[0]


def render_schema(
    schema: Mapping[str, Any], dialect: Dialect, tool: str, field: str = "parameters"
) -> RenderedSchema:
    """Render the schema of arguments (an object) or of a result in a dialect.

    Each keyword that is changed, stated in the description, or dropped is a `Loss`. The number
    of rendered subschemas is limited, so that the time is bounded for any schema.

    Args:
        schema: the spec's schema, in any version of JSON Schema, with internal references.
        dialect: the provider's dialect.
        tool: the tool's name in the spec, for the losses.
        field: the field of the spec that contains the schema.

    Raises:
        InexpressibleError: the dialect is closed, and cannot express the schema.
    """
    return _SchemaRenderer(Flattener(schema, dialect, tool, field)).render(field)


class _SchemaRenderer:
    def __init__(self, flattener: Flattener) -> None:
        self._flattener = flattener
        self._dialect = flattener.dialect
        self._losses = flattener.losses
        self._names = flattener.names
        self._absent: dict[int, tuple[frozenset[str], Mapping[str, Any]]] = {}
        self._remaining = _MAX_SCHEMAS
        self._level = 0

    def render(self, field: str) -> RenderedSchema:
        parts = self._flattener.parts
        is_root = field == "parameters"
        root = self._render_schema(parts.root, (field,), is_root=is_root)
        definitions: dict[str, Any] = {}
        # Rendering a definition may add further definitions to the list.
        for name, target in self._flattener.definitions:
            self._flattener.opened = []
            definitions[name] = self._render_schema(target, parts.get_path(target))
        if definitions:
            root["$defs"] = definitions
        return RenderedSchema(
            root, self._losses.list_losses(), self._absent, self._names
        )

    def _render_schema(
        self, schema: Any, path: Path, *, is_root: bool = False
    ) -> dict[str, Any]:
        if schema is False:
            return self._flattener.build_false(path)
        if not isinstance(schema, Mapping):
            if self._dialect.is_closed:
                keyword = get_last_name(path)
                raise InexpressibleError(path, keyword, "accepts any value")
            return {}
        if self._level > MAX_DEPTH or self._remaining < 0:
            return self._flattener.cut(schema, "$ref", path)
        opened_count = len(self._flattener.opened)
        self._remaining -= 1
        self._level += 1
        try:
            flat, flat_path = self._flattener.flatten(schema, path, is_root)
            if "$ref" in flat:
                return self._render_reference(flat, flat_path)
            return self._render_flat(flat, flat_path, is_root)
        finally:
            self._level -= 1
            del self._flattener.opened[opened_count:]

    def _render_reference(self, schema: dict[str, Any], path: Path) -> dict[str, Any]:
        reference = {"$ref": schema.pop("$ref")}
        siblings: dict[str, Any] = {}
        lost: dict[str, Any] = {}
        for key, value in schema.items():
            if key not in DEFINITIONS:
                is_accepted = self._accepts(key, value, is_root=False)
                (siblings if is_accepted else lost)[key] = value
        self._add_keyword_losses(lost, siblings, path, is_root=False)
        if self._dialect.has_reference_siblings:
            return {**reference, **siblings}
        return {**siblings, "anyOf": [reference]} if siblings else reference

    def _render_flat(
        self, schema: dict[str, Any], path: Path, is_root: bool
    ) -> dict[str, Any]:
        """Render a flattened schema: replace or drop unaccepted keywords, then subschemas."""
        dialect = self._dialect
        if is_root:
            schema = {"type": "object", **schema} | {"type": "object"}
        schema = replace_keywords(self._flattener, schema, path, is_root)
        values = [schema.get("enum"), schema.get("const")]
        loses_values = not dialect.accepts_integers(values)
        if (dialect.enum_types is not None or loses_values) and not is_root:
            with_types = add_value_types(schema)
            if with_types is None:
                return self._flattener.build_false(path)
            schema = with_types
        if dialect.is_closed:
            schema = add_implied_type(self._flattener, schema, path)
        out: dict[str, Any] = {}
        lost: dict[str, Any] = {}
        for key, value in schema.items():
            if key in DEFINITIONS or (
                dialect.is_closed and key == "additionalProperties"
            ):
                continue
            is_accepted = self._accepts(key, value, is_root)
            rendered = _LOST
            if is_accepted:
                rendered = self._render_keyword(key, value, path)
            if rendered is not _LOST:
                out[key] = rendered
            elif is_accepted and key == "oneOf" and "anyOf" not in schema:
                message = "exactly one alternative must match; replaced by `anyOf`"
                self._losses.add(path, key, message, Effect.WIDER)
                out["anyOf"] = self._render_value("anyOf", value, path)
            else:
                lost[key] = value
        for key, others in _DEPENDENT_KEYWORDS.items():
            if key in lost:
                lost |= {other: schema[other] for other in others if out.pop(other, 0)}
        absent = frozenset[str]()
        if dialect.is_closed and "object" in (get_types(out) or ()):
            absent = close(self._flattener, schema, out, path)
        if self._names:
            absent = frozenset(self._names.get(name, name) for name in absent)
            self._add_name_losses(out, path)
            out = rename_properties(out, self._names)
        if is_root:
            out = {**out, "properties": out.get("properties", {})}
        if dialect.needs_items and "array" in (get_types(out) or ()):
            if dialect.is_closed and "items" not in out:
                raise InexpressibleError(path, "items", "accepts items of any type")
            if "items" not in out:
                self._add_items(out, lost)
        self._add_keyword_losses(lost, out, path, is_root)
        if absent:
            self._absent[id(out["properties"])] = absent, out["properties"]
        return spell_nullable(out, dialect.nullable)

    def _render_keyword(self, key: str, value: Any, path: Path) -> Any:
        """Render the subschemas in the value of a keyword.

        Returns:
            The rendered value; `_LOST` if the keyword must be dropped, because losses below
            `not` or a similar keyword would make the whole schema narrower.
        """
        if key not in REVERSED:
            return self._render_value(key, value, path)
        was_reversed = self._losses.is_reversed
        self._losses.is_reversed = True
        count = len(self._losses)
        try:
            rendered = self._render_value(key, value, path)
        finally:
            self._losses.is_reversed = was_reversed
        return _LOST if self._losses.remove_narrowing(count) else rendered

    def _add_items(self, out: dict[str, Any], lost: dict[str, Any]) -> None:
        """Add the `items` that the dialect requires for an array, from `unevaluatedItems`.

        `items` is `{}` if there is no `unevaluatedItems` or it cannot be expressed.
        """
        if "unevaluatedItems" not in out:
            out["items"] = {}
        elif out.keys() & IN_PLACE or "$ref" in out:
            # `anyOf`, `$ref` and similar keywords may evaluate items, and so allow items that
            # `unevaluatedItems` as `items` would reject.
            lost["unevaluatedItems"] = out.pop("unevaluatedItems")
            out["items"] = {}
        elif "contains" in out:
            # `unevaluatedItems` does not apply to items that match `contains`, so an item must
            # match one of the two schemas.
            members = [out["contains"], out["unevaluatedItems"]]
            allowed = [member for member in members if member is not False]
            out["items"] = allowed[0] if len(allowed) == 1 else {"anyOf": allowed}
        else:
            out["items"] = out["unevaluatedItems"]

    def _render_value(self, key: str, value: Any, path: Path) -> Any:
        if key in NAMED and isinstance(value, Mapping):
            if key == "properties" and self._dialect.is_closed:
                # A property with the schema `false` can never be sent, and a closed object
                # rejects undeclared properties, so the declaration can be omitted.
                value = {
                    name: subschema
                    for name, subschema in value.items()
                    if subschema is not False
                }
            return {
                name: self._render_schema(subschema, (*path, key, name))
                for name, subschema in value.items()
            }
        if key in LISTED and isinstance(value, (list, tuple)):
            # An alternative `false` never matches, so it is omitted if there are others.
            omits_false = key in ("anyOf", "oneOf") and any(
                subschema is not False for subschema in value
            )
            return [
                self._render_schema(subschema, (*path, key, index))
                for index, subschema in enumerate(value)
                if subschema is not False or not omits_false
            ]
        if key in HELD and (isinstance(value, Mapping) or self._dialect.is_closed):
            return self._render_schema(value, (*path, key))
        return value

    def _accepts(self, key: str, value: Any, is_root: bool) -> bool:
        """Return whether the dialect accepts a keyword with its value at this level."""
        dialect = self._dialect
        if not dialect.accepts(key, at_root=is_root):
            return False
        # `propertyNames` describes the spec's names, but the model sends the provider's names.
        if key == "propertyNames" and self._names:
            return False
        if self._level == _PARAMETER_LEVEL and key in dialect.lost_of_parameters:
            return False
        if key not in SUBSCHEMA_KEYWORDS and not dialect.accepts_integers(value):
            return False
        if key == "minItems" and dialect.max_min_items is not None:
            return isinstance(value, int) and value <= dialect.max_min_items
        if key == "format" and dialect.formats is not None:
            return value in dialect.formats
        if key == "pattern":
            return dialect.accepts_pattern(str(value))
        if key in ("enum", "const") and dialect.enum_types is not None:
            values = value if key == "enum" else [value]
            return all(get_type_name(item) in dialect.enum_types for item in values)
        return True

    def _add_name_losses(self, out: Mapping[str, Any], path: Path) -> None:
        is_closed = out.get("additionalProperties") is False
        # The provider's form rejects a call with the spec's name only if the object is closed.
        has_only_new_names = self._dialect.is_closed or (
            is_closed and not IN_PLACE & set(path)
        )
        effect = Effect.WORDS if has_only_new_names else Effect.NARROWER
        for old, new in self._names.items():
            if old in out.get("properties", ()):
                property_path = (*path, "properties", old)
                self._losses.add(property_path, "name", f"renamed to `{new}`", effect)
            for pattern in out.get("patternProperties", ()):
                if matches_pattern(pattern, old) != matches_pattern(pattern, new):
                    self._losses.add(
                        (*path, "patternProperties", pattern),
                        "name",
                        f"the pattern matches only one of `{old}` and its new name `{new}`",
                        Effect.OTHER,
                        Severity.WARNING,
                    )

    def _add_keyword_losses(
        self, lost: Mapping[str, Any], out: dict[str, Any], path: Path, is_root: bool
    ) -> None:
        """State lost keywords in the description if possible, and add their losses."""
        stated = frozenset[str]()
        if self._dialect.accepts("description", at_root=is_root):
            known = {key: value for key, value in lost.items() if key in KNOWN}
            text, stated = describe_keywords(self._flattener, known)
            if text:
                out["description"] = append_text(out.get("description"), text)
        for keyword in lost:
            is_validating = keyword in STANDARD and keyword not in WORDS
            # A lost `additionalProperties: false` is harmless: models send only properties
            # that the schema declares.
            is_closing = keyword == "additionalProperties" and lost[keyword] is False
            is_serious = is_validating and keyword not in stated and not is_closing
            message = "stated in the description" if keyword in stated else "dropped"
            effect = Effect.WIDER if is_validating else Effect.WORDS
            severity = Severity.WARNING if is_serious else Severity.NOTE
            self._losses.add(path, keyword, message, effect, severity)
