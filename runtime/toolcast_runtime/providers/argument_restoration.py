"""Conversion of the arguments that a model sent to those of the spec, the inverse of rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..core.definitions.tool import Tool
from ..core.validation.compiled import build_validator
from ..core.validation.references import (
    get_subschemas,
    list_applied_subschemas,
    walk_schemas,
)
from .combined_schemas import contains_json, get_types, matches_types
from .provider_names import named_properties, renamed_keys
from .schema_rendering import RenderedSchema

_ROOT_ID = "urn:toolcast:rendered"
_MEMBER_NAME = "urn:toolcast:member"


def restore_arguments(
    sent: Mapping[str, Any], rendered: RenderedSchema
) -> dict[str, Any]:
    """Return the arguments of a call as the spec defines them.

    Optional properties that are null because the dialect requires them are removed, and properties
    get the spec's names. Nothing else is changed or added: invalid arguments remain invalid, so
    that the call rejects them.

    Args:
        sent: the arguments that the model sent; they may be invalid.
        rendered: the schema that the provider got.
    """
    restored: Any = dict(sent)
    if rendered.absent:
        restored = _AbsentPropertyRemover(rendered).restore(restored, rendered.schema)
    if rendered.names:
        restored = _NameRestorer(rendered).restore(restored, [rendered.schema])
    arguments: dict[str, Any] = restored
    return arguments


class _AbsentPropertyRemover:
    """Removes the properties whose null means that they are omitted."""

    def __init__(self, rendered: RenderedSchema) -> None:
        self._rendered = rendered
        self._root = rendered.schema

    def restore(self, value: Any, schema: Any) -> Any:
        """Return a value of a rendered schema without these properties."""
        if isinstance(value, Mapping):
            return self._restore_object(value, schema)
        if isinstance(value, list):
            return self._restore_array(value, schema)
        return value

    def _restore_object(self, value: Mapping[str, Any], schema: Any) -> dict[str, Any]:
        restored = dict(value)
        for part in self._list_applying(value, schema):
            absent = self._rendered.get_absent(part)
            for name, subschema in part.get("properties", {}).items():
                if name in absent and restored.get(name, 0) is None:
                    del restored[name]
                elif name in restored:
                    restored[name] = self.restore(restored[name], subschema)
        return restored

    def _restore_array(self, value: list[Any], schema: Any) -> list[Any]:
        for part in self._list_applying(value, schema):
            value = [self.restore(item, part.get("items")) for item in value]
        return value

    def _list_applying(self, value: Any, schema: Any) -> Iterator[Mapping[str, Any]]:
        """Yield the schemas of a value; of alternatives the first that allows the value."""

        def list_next(part: Mapping[str, Any]) -> Iterator[Any]:
            if "anyOf" in part:
                yield self._select_alternative(value, part["anyOf"])
            yield _get_target(self._root, part)

        return walk_schemas([schema], list_next)

    def _select_alternative(self, value: Any, members: list[Any]) -> Any:
        candidates = [member for member in members if self._has_type(value, member)]
        if len(candidates) < 2:
            return candidates[0] if candidates else None
        for member in candidates:
            # Validated inside the root schema, so that the member's references resolve.
            definitions = {**self._root.get("$defs", {}), _MEMBER_NAME: member}
            root = {**self._root, "$id": _ROOT_ID, "$defs": definitions}
            schema = {
                "$ref": f"{_ROOT_ID}#/$defs/{_MEMBER_NAME}",
                "$defs": {_MEMBER_NAME: root},
            }
            if build_validator(schema).is_valid(value):
                return member
        return None

    def _has_type(self, value: Any, schema: Any) -> bool:
        """Return whether a value may have a type of a schema, or of its reference's target."""
        # Bounded, because references may be circular.
        for _ in range(len(self._root.get("$defs", ())) + 2):
            if not isinstance(schema, Mapping):
                return False
            if "type" in schema or "$ref" not in schema:
                break
            schema = _get_target(self._root, schema)
        return matches_types(value, get_types(schema))


class _NameRestorer:
    """Restores the spec's names of properties.

    All alternatives count, even those that the value does not match: a property has the same new name
    in all of them.
    """

    def __init__(self, rendered: RenderedSchema) -> None:
        self._root = rendered.schema
        self._old_names = {new: old for old, new in rendered.names.items()}

    def restore(self, value: Any, schemas: list[Any]) -> Any:
        """Return a value of rendered schemas with the spec's names."""
        if not isinstance(value, (Mapping, list)):
            return value
        parts = list(self._list_applying(schemas))
        if any(
            contains_json(part.get("enum", [part.get("const")]), value)
            for part in parts
        ):
            return renamed_keys(value, self._old_names)
        if isinstance(value, list):
            return [
                self._restore_item(item, index, parts)
                for index, item in enumerate(value)
            ]
        declared_names = {name for part in parts for name in named_properties(part)}
        restored = {}
        for name, item in value.items():
            old_name = name
            if name in declared_names:
                old_name = self._old_names.get(name, name)
            restored[old_name] = self._restore_property(item, name, parts)
        return restored

    def _restore_property(
        self, value: Any, name: str, parts: list[Mapping[str, Any]]
    ) -> Any:
        schemas = []
        for part in parts:
            schemas.append(part.get("properties", {}).get(name))
            for keyword in (
                "patternProperties",
                "additionalProperties",
                "unevaluatedProperties",
            ):
                schemas += get_subschemas(part, keyword)
        return self.restore(value, schemas)

    def _restore_item(
        self, value: Any, index: int, parts: list[Mapping[str, Any]]
    ) -> Any:
        schemas = []
        for part in parts:
            schemas += part.get("prefixItems", [])[index : index + 1]
            for keyword in ("items", "contains", "unevaluatedItems"):
                schemas.append(part.get(keyword))
        return self.restore(value, schemas)

    def _list_applying(self, schemas: list[Any]) -> Iterator[Mapping[str, Any]]:
        """Yield all schemas that a value of these schemas may be validated by."""
        return walk_schemas(
            schemas,
            lambda part: [
                *list_applied_subschemas(part),
                part.get("not"),
                _get_target(self._root, part),
            ],
        )


def _get_target(root: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    """Return the target of a rendered schema's reference; None without a reference."""
    reference = schema.get("$ref")
    if reference == "#":
        return root
    if not isinstance(reference, str):
        return None
    return root.get("$defs", {}).get(reference.removeprefix("#/$defs/"))


def list_valid_examples(
    tool: Tool, parameters: RenderedSchema
) -> Iterator[Mapping[str, Any]]:
    """Yield the arguments of a tool's examples that are valid for the rendered schema.

    Providers reject requests with an invalid example. Examples of failing calls are omitted,
    because models would repeat them.
    """
    if not tool.examples:
        return
    validator = build_validator(parameters.schema)
    for example in tool.examples:
        if "error" in example:
            continue
        original = example.get("arguments", {})
        arguments = renamed_keys(original, parameters.names)
        with suppress(ValueError):  # a string contains a lone surrogate
            if (
                validator.is_valid(arguments)
                and restore_arguments(arguments, parameters) == original
            ):
                yield arguments
