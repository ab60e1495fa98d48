"""Objects of a closed dialect: their declared properties alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..loss import Effect, Losses, Severity
from .dialect import Dialect, Inexpressible
from .null_spelling import nullable_schema, takes_null
from .schema_parts import Path, SchemaParts

_IMPLIED = (
    ("properties", "object"),
    ("additionalProperties", "object"),
    ("items", "array"),
    ("prefixItems", "array"),
    ("pattern", "string"),
    ("minLength", "string"),
    ("maxLength", "string"),
    ("format", "string"),
    ("minimum", "number"),
    ("maximum", "number"),
)


class Closing:
    """Names types, closes objects and requires their properties.

    Args:
        parts: the schema.
        dialect: what is taken.
        losses: where losses are noted.
    """

    def __init__(self, parts: SchemaParts, dialect: Dialect, losses: Losses) -> None:
        self._parts = parts
        self._dialect = dialect
        self._losses = losses

    def typed(self, schema: dict[str, Any], path: Path) -> dict[str, Any]:
        """A schema that names its type, as closed dialects want it."""
        if schema.keys() & {"type", "anyOf", "oneOf"}:
            return schema
        implied = next((t for k, t in _IMPLIED if k in schema), None)
        if implied is None:
            raise Inexpressible(path, "type", "takes a value of any type")
        self._losses.add(
            path,
            "type",
            f"values that are no {implied}",
            Effect.NARROWER,
            Severity.NOTE,
        )
        return {"type": implied, **schema}

    def close(
        self, schema: Mapping[str, Any], out: dict[str, Any], path: Path
    ) -> frozenset[str]:
        """Closes an object, and makes its optional properties nullable where all are required.

        Returns:
            The properties whose null means that they are absent.
        """
        properties = out.setdefault("properties", {})
        further = schema.get("additionalProperties", True)
        if schema.get("unevaluatedProperties") is False:
            further = False
        if schema.get("patternProperties"):
            raise Inexpressible(path, "patternProperties", "takes names by a pattern")
        is_map = not properties and (len(path) > 1 or "additionalProperties" in schema)
        if (isinstance(further, Mapping) and further) or (
            further is not False and is_map
        ):
            raise Inexpressible(path, "additionalProperties", "takes any names")
        if further is not False:
            self._losses.add(
                path,
                "additionalProperties",
                "names that are not declared",
                Effect.NARROWER,
            )
        out["additionalProperties"] = False
        needed = [name for name in out.get("required", ()) if name not in properties]
        if needed:
            raise Inexpressible(
                path, "required", f"needs `{needed[0]}`, which is not declared"
            )
        if not self._dialect.is_required_whole:
            return frozenset()
        return self._require_all(schema, out, path)

    def _require_all(
        self, schema: Mapping[str, Any], out: dict[str, Any], path: Path
    ) -> frozenset[str]:
        properties = out["properties"]
        absent = frozenset(properties) - frozenset(out.get("required", ()))
        for name in absent:
            inner = schema["properties"][name]
            if takes_null(inner, self._parts.target):
                has_none = (
                    isinstance(inner, Mapping) and inner.get("default", 0) is None
                )
                self._losses.add(
                    (*path, "properties", name),
                    "null",
                    "null cannot be sent: it means that the parameter is absent",
                    Effect.NARROWER,
                    Severity.NOTE if has_none else Severity.WARNING,
                )
            else:
                spelling = self._dialect.nullable
                properties[name] = nullable_schema(properties[name], spelling)
        out["required"] = list(properties)
        return absent
