"""Hypothesis strategies for parameter schemas, from ordinary to hostile ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["NAMES", "parameter_schemas"]

NAMES = ["a", "b", "type", "x-y", "x_y", "größe", "a.b", "1st", "n" * 70, "$ref", ""]
"""Property names, of which some are invalid in a grammar, and two become equal in one."""

_DEFINITIONS = ["one", "two", "a/b~c"]
_TEXTS = ["", "a", "red", "Red", "2026-11-22", "a longer text", "12", "x-y"]
_NUMBERS = [0, 1, -1, 2, 5, 0.5, 1.5, 2**53, -(2**63), 1e308, 1e-9]
_PATTERNS = ["^a", "^[a-z-]+$", "e", "^(?!red)", "\\d{2}", "^x_", "\\bred\\b"]
_PATTERNS += ["^\\p{L}", "^(?<first>r)"]
_FORMATS = ["date", "uri", "email", "no-such-format", "int32"]
_SCALARS = [*_TEXTS, *_NUMBERS, True, False, None]
_VALUES = [*_SCALARS, [], {}, [1], ["red", None], {"a": 1}, {"x-y": None}]
_ANNOTATIONS = {
    "title": st.sampled_from(["Title", ""]),
    "description": st.sampled_from(["Words.", "", "Two\nlines."]),
    "default": st.sampled_from(_VALUES),
    "examples": st.lists(st.sampled_from(_VALUES), max_size=2),
    "deprecated": st.booleans(),
    "x-unknown": st.sampled_from(_VALUES),
    "nullable": st.booleans(),
}
_BOUNDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "string": {
        "minLength": st.integers(0, 3),
        "maxLength": st.integers(1, 12),
        "pattern": st.sampled_from(_PATTERNS),
        "format": st.sampled_from(_FORMATS),
    },
    "number": {
        "minimum": st.sampled_from(_NUMBERS),
        "maximum": st.sampled_from(_NUMBERS),
        "exclusiveMinimum": st.sampled_from(_NUMBERS),
        "exclusiveMaximum": st.sampled_from(_NUMBERS),
        "multipleOf": st.sampled_from([1, 2, 0.5]),
    },
}
_BOUNDS["integer"] = _BOUNDS["number"]
_NOT_NULL = ["string", "integer", "number", "boolean", "object", "array"]
_TYPES = [*_NOT_NULL, "null"]
_MAX_LEVELS = 3


@st.composite
def parameter_schemas(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a parameter schema in 2020-12 or draft-07.

    Its definitions can refer to each other, to themselves, to the root and to its
    properties.
    """
    return _Schemas(draw).root()


class _Schemas:
    """A schema while it is drawn."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._is_old = draw(st.integers(0, 3)) == 0
        self._is_plain = draw(st.booleans())
        self._references: list[str] = []

    def _choose(self, *choices: Any) -> Any:
        return self._draw(st.sampled_from(choices))

    def _happens(self, odds: int) -> bool:
        """Return True once in `odds` draws."""
        return bool(self._draw(st.integers(1, odds)) == odds)

    def _draw_keywords(
        self, drawn: dict[str, st.SearchStrategy[Any]], maximum: int
    ) -> dict[str, Any]:
        keys = st.lists(st.sampled_from(sorted(drawn)), max_size=maximum, unique=True)
        return {
            key: self._draw(drawn[key]) for key in (self._draw(keys) if drawn else ())
        }

    def root(self) -> dict[str, Any]:
        keyword = self._choose("$defs", "definitions")
        names = self._draw(
            st.lists(st.sampled_from(_DEFINITIONS), unique=True, max_size=2)
        )
        for name in names:
            escaped = name.replace("~", "~0").replace("/", "~1")
            self._references.append(f"#/{keyword}/{escaped}")
        if not self._is_plain and self._happens(3):
            self._references.append("#")
        root = self.object(_MAX_LEVELS)
        if not self._is_plain and self._happens(4):
            root |= self._draw_condition(1)
        if self._is_old:
            root = {"$schema": "http://json-schema.org/draft-07/schema#", **root}
        if names:
            root[keyword] = {name: self.schema(1) for name in names}
        return root

    def schema(self, levels: int) -> Any:
        kinds = [self.scalar, self.scalar, self.values, self.nullable]
        if self._references:
            kinds.append(self.reference)
        if levels > 0:
            kinds += [self.object, self.object, self.array, self.alternatives]
            if not self._is_plain:
                kinds += [self.map, self.combined, self.several]
        if not self._is_plain:
            kinds.append(self.anything)
        drawn = self._draw(st.sampled_from(kinds))(levels)
        if isinstance(drawn, dict) and self._happens(3):
            drawn = {**self._draw_keywords(_ANNOTATIONS, 2), **drawn}
        return drawn

    def scalar(self, levels: int) -> Any:
        name = self._choose("string", "integer", "number", "boolean", "null")
        return {"type": name, **self._draw_keywords(_BOUNDS.get(name, {}), 2)}

    def values(self, levels: int) -> Any:
        of = _SCALARS if self._is_plain else _VALUES
        if self._happens(3):
            return {"const": self._choose(*of)}
        values = self._draw(
            st.lists(st.sampled_from(of), min_size=1, max_size=4, unique_by=repr)
        )
        typed = {"type": self._choose(*_TYPES)} if self._happens(6) else {}
        return {**typed, "enum": values}

    def nullable(self, levels: int) -> Any:
        """Draw a schema or null, in each notation of null."""
        schema = self.schema(levels - 1)
        null = self._choose({"type": "null"}, {"const": None}, {"enum": [None]})
        if isinstance(schema, dict) and self._happens(2):
            if schema.get("type") in _NOT_NULL:
                return {**schema, "type": [schema["type"], "null"]}
            if "enum" in schema and None not in schema["enum"]:
                return {**schema, "enum": [*schema["enum"], None]}
        pair = [schema, null] if self._happens(2) else [null, schema]
        return {self._choose("anyOf", "anyOf", "oneOf"): pair}

    def reference(self, levels: int) -> Any:
        siblings = (
            {} if self._is_plain or not self._happens(4) else self.schema(levels - 1)
        )
        if not isinstance(siblings, dict):
            siblings = {}
        return {**siblings, "$ref": self._choose(*self._references)}

    def anything(self, levels: int) -> Any:
        kind = self._choose("{}", "true", "false", "untyped", "of types")
        if kind == "untyped":
            return self._draw(
                st.sampled_from(
                    [
                        {"minimum": 2},
                        {"minLength": 2},
                        {"required": ["a"]},
                        {"properties": {"a": {"type": "string"}}},
                        {"items": {"type": "string"}},
                        {"uniqueItems": True},
                        {"maxProperties": 1},
                        {"not": {"type": "string"}},
                    ]
                )
            )
        if kind == "of types":
            types = self._draw(
                st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True)
            )
            return {"type": types, **self._draw_keywords(_BOUNDS["number"], 1)}
        return {"{}": {}, "true": True, "false": False}[kind]

    def object(self, levels: int) -> dict[str, Any]:
        names = self._draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.schema(levels - 1) for name in names},
        }
        required = [name for name in names if self._happens(2)]
        if not self._is_plain and self._happens(8):
            required.append("not declared")
        if required:
            schema["required"] = required
        if self._is_plain or self._happens(2):
            schema["additionalProperties"] = False
        elif self._happens(4):
            schema["additionalProperties"] = self.schema(0)
        if not self._is_plain and names and self._happens(3):
            schema |= self._draw_property_rule(names, levels)
        return schema

    def _draw_property_rule(self, names: list[str], levels: int) -> dict[str, Any]:
        """Draw another keyword that constrains an object's properties by name."""
        name = self._choose(*names)
        kind = self._choose(
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
            "propertyNames",
            "if",
            "enum",
            "unevaluatedProperties",
            "minProperties",
        )
        requirement = {"required": [self._choose(*names)]}
        if kind == "dependentRequired":
            key = "dependencies" if self._is_old else kind
            return {key: {name: requirement["required"]}}
        if kind == "dependentSchemas":
            key = "dependencies" if self._is_old else kind
            return {key: {name: requirement}}
        if kind == "patternProperties":
            patterns = ["^x", "^[a-z]$", "-", "^n+$", "^\\p{L}$"]
            patterned = {self._choose(*patterns): self.schema(0)}
            closing = (
                {}
                if self._is_old or self._happens(2)
                else {"unevaluatedProperties": False}
            )
            return {kind: patterned, **closing}
        if kind == "propertyNames":
            return {
                kind: self._choose(
                    {"enum": [*NAMES, "not declared"]},
                    {"enum": [name]},
                    {"pattern": "^[a-z]"},
                    {"maxLength": 3},
                )
            }
        if kind == "if":
            return self._draw_condition(levels)
        if kind == "enum":
            return {"enum": [{name: "red"}, {}, {name: None}]}
        if kind == "unevaluatedProperties":
            return {} if self._is_old else {kind: False}
        return {kind: 1, "maxProperties": 2}

    def _draw_condition(self, levels: int) -> dict[str, Any]:
        """Draw a relation between parameters, in each common notation."""
        names = self._draw(
            st.lists(st.sampled_from(NAMES[:4]), unique=True, min_size=2, max_size=2)
        )
        members: list[dict[str, Any]] = [{"required": [name]} for name in names]
        if self._happens(2):
            members[0]["properties"] = {names[0]: self.schema(0)}
        if self._happens(2):
            return {self._choose("anyOf", "oneOf", "allOf"): members}
        if self._happens(3):
            return {"not": {"required": names}}
        return {
            "if": {"properties": {names[0]: {"const": "red"}}, **members[0]},
            self._choose("then", "else"): members[1],
        }

    def array(self, levels: int) -> Any:
        schema: dict[str, Any] = {"type": "array"}
        kind = self._choose("items", "items", "items", "places", "any")
        if kind == "items" or (kind == "any" and self._is_plain):
            schema["items"] = self.schema(levels - 1)
        elif kind == "places":
            prefix_items = [self.schema(levels - 1) for _ in range(self._choose(1, 2))]
            additional = self._choose(True, False, None, {"type": "string"})
            schema["items" if self._is_old else "prefixItems"] = prefix_items
            if additional is not None:
                schema["additionalItems" if self._is_old else "items"] = additional
        if not self._is_plain and not self._is_old and self._happens(3):
            schema["unevaluatedItems"] = self._choose(False, {"type": "string"})
        counts: dict[str, st.SearchStrategy[Any]] = {
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(1, 3),
            "uniqueItems": st.booleans(),
        }
        if not self._is_plain:
            counts["contains"] = st.just({"type": "string"})
        return {**schema, **self._draw_keywords(counts, 2)}

    def map(self, levels: int) -> Any:
        additional = self.schema(levels - 1)
        if self._happens(2):
            return {"type": "object", "additionalProperties": additional}
        return {"type": "object"}

    def alternatives(self, levels: int) -> Any:
        members = [self.schema(levels - 1) for _ in range(self._choose(1, 2, 3))]
        siblings = {"description": "Of several."} if self._happens(3) else {}
        return {**siblings, self._choose("anyOf", "anyOf", "oneOf"): members}

    def combined(self, levels: int) -> Any:
        if self._happens(2):
            members = [self.object(levels - 1), self.object(levels - 1)]
        else:
            members = [self.schema(levels - 1) for _ in range(self._choose(1, 2))]
        return {"allOf": members}

    def several(self, levels: int) -> Any:
        """Draw a rare combination of a schema with another keyword."""
        base = self.schema(levels - 1)
        schema: dict[str, Any] = base if isinstance(base, dict) else {}
        key = self._choose("not", "if", "anyOf", "allOf", "oneOf")
        if key == "if":
            keywords = {
                key: self.schema(0),
                self._choose("then", "else"): self.schema(0),
            }
        elif key == "not":
            keywords = {key: self.schema(0)}
        else:
            keywords = {key: [self.schema(levels - 1), self.schema(0)]}
        return {**schema, **keywords}
