"""What a model sent, as the spec says it: the inverse of a rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ...core.definitions.tool import Tool
from ...core.validation.compiled import build
from ...core.validation.references import in_place, inner_schemas, reached
from .combined_schemas import is_of_type, types_of
from .provider_names import named_properties, renamed_keys
from .schema_rendering import RenderedSchema

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

        return reached([schema], more)

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
                schemas += inner_schemas(one, keyword)
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
        return reached(
            schemas,
            lambda one: [*in_place(one), one.get("not"), _target(self._root, one)],
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
    validator = build(parameters.schema)
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
