"""A schema of a spec in a provider's dialect, what is lost of it, and the way back.

The steps of each schema, from the outside to the inside: references and `allOf` are resolved,
what is left is said in the dialect's words and closed (`flattening`), the schemas within are
rendered alike, and what the dialect has no word for is told or dropped. The inverse makes of what
a model sent what the spec says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ..core.definitions.tool import Tool
from ..core.validation.compiled import build_validator
from ..core.validation.references import (
    IN_PLACE,
    get_subschemas,
    list_in_place,
    walk_schemas,
)
from .combined_schemas import is_of_type, spelled, type_name, typed_values, types_of
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
    Effect,
    InexpressibleError,
    Loss,
    Severity,
    added,
    describe_lost_keywords,
)
from .flattening import MAX_DEPTH, Flattener, Path, close, restated, typed
from .provider_names import named_properties, renamed, renamed_everywhere, renamed_keys

_NOT_PLAIN = ("(?=", "(?!", "(?<", "\\b", "\\B", *(f"\\{n}" for n in range(1, 10)))
_MAX_SCHEMAS = 20_000
"""Subschemas of one rendered schema."""
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
        InexpressibleError: the dialect is closed, and no closed schema says this one.
    """
    return _SchemaRenderer(Flattener(schema, dialect, tool, field)).whole(field)


class _SchemaRenderer:
    def __init__(self, flattening: Flattener) -> None:
        self._on = flattening
        self._dialect = flattening.dialect
        self._losses = flattening.losses
        self._names = flattening.names
        self._absent: dict[int, tuple[frozenset[str], Mapping[str, Any]]] = {}
        self._left = _MAX_SCHEMAS
        self._levels = 0

    def whole(self, field: str) -> RenderedSchema:
        parts = self._on.parts
        whole = self._schema(parts.root, (field,), is_root=field == "parameters")
        definitions: dict[str, Any] = {}
        for name, target in self._on.definitions:  # It grows meanwhile.
            self._on.opened = []
            definitions[name] = self._schema(target, parts.location(target))
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
                raise InexpressibleError(path, str(path[-1]), "takes any value")
            return {}
        if self._levels > MAX_DEPTH or self._left < 0:
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
        out, lost = dict[str, Any](), dict[str, Any]()
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
                raise InexpressibleError(path, "items", "takes items of any type")
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
            text, said = describe_lost_keywords(renamed_everywhere(known, self._names))
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
        return bool(re.search(pattern, name))
    except re.error:
        return None


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
    restored: Any = dict(sent)
    if rendered.absent:
        restored = _WithoutAbsent(rendered).value(restored, rendered.schema)
    if rendered.names:
        restored = _WithOldNames(rendered).value(restored, [rendered.schema])
    found: dict[str, Any] = restored
    return found


class _WithoutAbsent:
    """Takes out the nulls that stand for absent properties."""

    def __init__(self, rendered: RenderedSchema) -> None:
        self._rendered = rendered
        self._root = rendered.schema

    def value(self, value: Any, schema: Any) -> Any:
        """A value of a rendered schema without them."""
        if isinstance(value, Mapping):
            return self._object(value, schema)
        if isinstance(value, list):
            return self._list(value, schema)
        return value

    def _object(self, value: Mapping[str, Any], schema: Any) -> dict[str, Any]:
        restored = dict(value)
        for one in self._here(value, schema):
            absent = self._rendered.absent_of(one)
            for name, inner in one.get("properties", {}).items():
                if name in absent and restored.get(name, 0) is None:
                    del restored[name]
                elif name in restored:
                    restored[name] = self.value(restored[name], inner)
        return restored

    def _list(self, value: list[Any], schema: Any) -> list[Any]:
        for one in self._here(value, schema):
            value = [self.value(item, one.get("items")) for item in value]
        return value

    def _here(self, value: Any, schema: Any) -> Iterator[Mapping[str, Any]]:
        """The schemas that a value was sent by: of alternatives the first that takes it."""

        def more(one: Mapping[str, Any]) -> Iterator[Any]:
            if "anyOf" in one:
                yield self._chosen(value, one["anyOf"])
            yield _target(self._root, one)

        return walk_schemas([schema], more)

    def _chosen(self, value: Any, members: list[Any]) -> Any:
        possible = [one for one in members if self._may_be(value, one)]
        if len(possible) < 2:
            return possible[0] if possible else None
        for member in possible:
            # In the whole, where references of the member lead to what they name.
            parts = {**self._root.get("$defs", {}), _MEMBER: member}
            whole = {**self._root, "$id": _WHOLE, "$defs": parts}
            alone = {"$ref": f"{_WHOLE}#/$defs/{_MEMBER}", "$defs": {_MEMBER: whole}}
            if build_validator(alone).is_valid(value):
                return member
        return None

    def _may_be(self, value: Any, schema: Any) -> bool:
        """Whether a value is of a type that a schema names, references followed."""
        for _ in range(len(self._root.get("$defs", ())) + 2):
            if not isinstance(schema, Mapping):
                return False
            if "type" in schema or "$ref" not in schema:
                break
            schema = _target(self._root, schema)
        return is_of_type(value, types_of(schema))


class _WithOldNames:
    """Gives properties the names that the spec has for them.

    Every alternative counts, also one that does not hold: a property has one name in all.
    """

    def __init__(self, rendered: RenderedSchema) -> None:
        self._root = rendered.schema
        self._old_names = {new: old for old, new in rendered.names.items()}

    def value(self, value: Any, schemas: list[Any]) -> Any:
        """A value of some rendered schemas with the old names."""
        if not isinstance(value, (Mapping, list)):
            return value
        here = list(self._here(schemas))
        if any(value in one.get("enum", [one.get("const")]) for one in here):
            return renamed_keys(value, self._old_names)
        if isinstance(value, list):
            return [self._item(item, index, here) for index, item in enumerate(value)]
        named = {name for one in here for name in named_properties(one)}
        return {
            self._old_names.get(name, name) if name in named else name: self._property(
                inner, name, here
            )
            for name, inner in value.items()
        }

    def _property(self, value: Any, name: str, here: list[Mapping[str, Any]]) -> Any:
        schemas = []
        for one in here:
            schemas.append(one.get("properties", {}).get(name))
            for keyword in (
                "patternProperties",
                "additionalProperties",
                "unevaluatedProperties",
            ):
                schemas += get_subschemas(one, keyword)
        return self.value(value, schemas)

    def _item(self, value: Any, index: int, here: list[Mapping[str, Any]]) -> Any:
        schemas = []
        for one in here:
            schemas += one.get("prefixItems", [])[index : index + 1]
            for keyword in ("items", "contains", "unevaluatedItems"):
                schemas.append(one.get(keyword))
        return self.value(value, schemas)

    def _here(self, schemas: list[Any]) -> Iterator[Mapping[str, Any]]:
        """Everything that a value of some schemas may be checked against."""
        return walk_schemas(
            schemas,
            lambda one: [*list_in_place(one), one.get("not"), _target(self._root, one)],
        )


def _target(root: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    """What the reference of a rendered schema leads to."""
    reference = schema.get("$ref")
    if reference == "#":
        return root
    if not isinstance(reference, str):
        return None
    return root.get("$defs", {}).get(reference.removeprefix("#/$defs/"))


def sendable_examples(
    tool: Tool, parameters: RenderedSchema
) -> Iterator[Mapping[str, Any]]:
    """The arguments of its examples that the rendered schema allows, as they would be sent.

    A request with an example that its schema refuses is refused, and one that shows a call that
    fails teaches the model to make it.
    """
    if not tool.examples:
        return
    validator = build_validator(parameters.schema)
    for example in tool.examples:
        meant = example.get("arguments", {})
        arguments = renamed_keys(meant, parameters.names)
        if "error" in example:
            continue
        with suppress(ValueError):  # A text that is no Unicode.
            if (
                validator.is_valid(arguments)
                and restored_arguments(arguments, parameters) == meant
            ):
                yield arguments
