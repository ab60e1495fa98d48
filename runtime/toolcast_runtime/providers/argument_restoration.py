"""Conversion of a model's arguments to the spec's arguments, the inverse of rendering."""

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
    """Convert the arguments of a model's call to arguments that the spec defines.

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
    """Removal of null properties that the spec declares as optional.

    A provider may require every property, so a model sends null instead of omitting one.
    """

    def __init__(self, rendered: RenderedSchema) -> None:
        self._rendered = rendered
        self._root = rendered.schema

    def restore(self, value: Any, schema: Any) -> Any:
        """Return a value without such null properties, at any depth."""
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
        """Yield a schema, the targets of its references, and one alternative of each `anyOf`.

        The alternative is the first that allows the value.
        """

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
            # Embed the alternative in the root schema, so that its references resolve.
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
        # Follow only as many references as there are definitions: references may be circular.
        for _ in range(len(self._root.get("$defs", ())) + 2):
            if not isinstance(schema, Mapping):
                return False
            if "type" in schema or "$ref" not in schema:
                break
            schema = _get_target(self._root, schema)
        return matches_types(value, get_types(schema))


class _NameRestorer:
    """Conversion of a provider's property names back to the spec's names.

    All alternatives are used, even those that the value does not match: a property has the
    same provider name in all of them.
    """

    def __init__(self, rendered: RenderedSchema) -> None:
        self._root = rendered.schema
        self._old_names = {new: old for old, new in rendered.names.items()}

    def restore(self, value: Any, schemas: list[Any]) -> Any:
        """Return a value with the spec's property names, at any depth.

        Only names that a schema declares are converted; other keys are the caller's data.
        """
        if not isinstance(value, (Mapping, list)):
            return value
        parts = list(self._list_applying(schemas))
        # In a value of `enum` or `const` every key was renamed, without being declared.
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
        """Yield the schemas with their subschemas and reference targets for the same value.

        `not` is included, because property names in it were renamed as well.
        """
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
        # Omit an example with a lone surrogate in a string, which cannot be validated.
        with suppress(ValueError):
            if (
                validator.is_valid(arguments)
                and restore_arguments(arguments, parameters) == original
            ):
                yield arguments
