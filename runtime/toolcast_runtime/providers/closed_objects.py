"""Requirements of closed dialects: a type everywhere, and objects with declared properties only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.validation.references import (
    IN_PLACE,
    get_subschemas,
    list_applied_subschemas,
    walk_schemas,
)
from .combined_schemas import allows_null, make_nullable
from .dialect import Effect, InexpressibleError, Severity
from .flattening import Flattener
from .reference_expansion import expand_reference
from .schema_parts import Path

_IMPLIED_TYPES = {
    **dict.fromkeys(("properties", "additionalProperties"), "object"),
    **dict.fromkeys(("items", "prefixItems"), "array"),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum"), "number"),
}


def add_implied_type(
    flattener: Flattener, schema: dict[str, Any], path: Path
) -> dict[str, Any]:
    """Return a schema with the type that its keywords imply, such as object for `properties`.

    Closed dialects require a type. A schema with a type or alternatives is returned unchanged.
    An added type is a loss, because the spec allows values of other types.

    Raises:
        InexpressibleError: no keyword implies a type.
    """
    if schema.keys() & {"type", "anyOf", "oneOf"}:
        return schema
    implied = next(
        (type_ for key, type_ in _IMPLIED_TYPES.items() if key in schema), None
    )
    if implied is None:
        raise InexpressibleError(path, "type", "accepts a value of any type")
    message = f"values of other types than {implied}"
    flattener.losses.add(path, "type", message, Effect.NARROWER, Severity.WARNING)
    return {"type": implied, **schema}


def close(
    flattener: Flattener, schema: Mapping[str, Any], out: dict[str, Any], path: Path
) -> frozenset[str]:
    """Close a rendered object; make optional properties nullable if all must be required.

    Args:
        flattener: has the dialect and collects losses.
        schema: the flattened schema of the object.
        out: the rendered schema; updated.
        path: the path of the schema in the spec.

    Returns:
        The names of optional properties: null means that they are omitted. Empty if the
        dialect allows optional properties.

    Raises:
        InexpressibleError: the object allows undeclared properties that calls need.
    """
    properties = out.setdefault("properties", {})
    if schema.get("patternProperties"):
        raise InexpressibleError(
            path, "patternProperties", "accepts names that match a pattern"
        )
    # If both keywords exist, `additionalProperties` decides: it evaluates every remaining
    # name, so none is left for `unevaluatedProperties`.
    keywords = ("additionalProperties", "unevaluatedProperties")
    closing = next((key for key in keywords if key in schema), None)
    # An object below the root without properties is a map, which needs undeclared names and so
    # cannot be closed.
    if closing is None or schema[closing] is not False:
        is_map = not properties and len(path) > 1
        if closing or is_map:
            keyword = closing or "additionalProperties"
            raise InexpressibleError(path, keyword, "accepts any names")
        flattener.losses.add(
            path, "additionalProperties", "undeclared names", Effect.NARROWER
        )
    # `additionalProperties: false` considers only `properties` next to it, so a property
    # that only `anyOf` or a similar keyword declares would become invalid.
    if closing != "additionalProperties":
        for keyword in schema.keys() & IN_PLACE:
            for name in _list_properties(flattener, get_subschemas(schema, keyword)):
                if name not in properties:
                    reason = f"declares `{name}` only in `{keyword}`"
                    raise InexpressibleError(path, keyword, reason)
    out["additionalProperties"] = False
    for name in out.get("required", ()):
        if name not in properties:
            reason = f"requires `{name}`, which is not declared"
            raise InexpressibleError(path, "required", reason)
    if not flattener.dialect.is_required_whole:
        return frozenset()
    optional = frozenset(properties) - frozenset(out.get("required", ()))
    for name in optional:
        subschema = schema["properties"][name]
        if allows_null(subschema, flattener.parts.resolve):
            # If the default is null, an omitted parameter and null have the same effect, so
            # the loss is only a note.
            has_null_default = (
                isinstance(subschema, Mapping) and subschema.get("default", 0) is None
            )
            message = "null cannot be sent: it marks an omitted parameter"
            severity = Severity.NOTE if has_null_default else Severity.WARNING
            property_path = (*path, "properties", name)
            flattener.losses.add(
                property_path, "null", message, Effect.NARROWER, severity
            )
        else:
            properties[name] = make_nullable(
                properties[name], flattener.dialect.nullable
            )
    out["required"] = list(properties)
    return optional


def _list_properties(flattener: Flattener, schemas: list[Any]) -> Iterator[str]:
    """Yield the property names that schemas of one object declare.

    Includes names from references and from `allOf`, `anyOf` and similar keywords.
    """
    expanded = [expand_reference(flattener.parts, schema) for schema in schemas]
    for schema in walk_schemas(
        expanded,
        lambda part: [
            expand_reference(flattener.parts, s) for s in list_applied_subschemas(part)
        ],
    ):
        yield from schema.get("properties", ())
