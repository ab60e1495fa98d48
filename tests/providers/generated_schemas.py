"""Strategies: schemas of arguments as people, programs and attackers write them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

__all__ = ["NAMES", "schemas"]

NAMES = ["a", "b", "type", "x-y", "x_y", "größe", "a.b", "1st", "n" * 70, "$ref", ""]
"""Of properties: some that no grammar takes, and two that become one in a grammar."""

_DEFINITIONS = ["one", "two", "a/b~c"]
_TEXTS = ["", "a", "red", "Red", "2026-11-22", "a longer text", "12", "x-y"]
_NUMBERS = [0, 1, -1, 2, 5, 0.5, 1.5, 2**53, -(2**63), 1e308, 1e-9]
_PATTERNS = ["^a", "^[a-z-]+$", "e", "^(?!red)", "\\d{2}", "^x_", "\\bred\\b"]
_PATTERNS += ["^\\p{L}", "^(?<first>r)"]
_FORMATS = ["date", "uri", "email", "no-such-format", "int32"]
_SCALARS = [*_TEXTS, *_NUMBERS, True, False, None]
_VALUES = [*_SCALARS, [], {}, [1], ["red", None], {"a": 1}, {"x-y": None}]
_WORDS = {
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
_MOST_LEVELS = 3


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """A schema of arguments, in 2020-12 or draft-07.

    Its definitions may refer to each other, to themselves, to the root and to a property of it.
    """
    return _Schemas(draw).root()


class _Schemas:
    """One schema as it is drawn.

    Args:
        draw: Hypothesis's.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._is_old = draw(st.integers(0, 3)) == 0
        self._is_plain = draw(st.booleans())
        self._references: list[str] = []

    def _one(self, *of: Any) -> Any:
        return self._draw(st.sampled_from(of))

    def _is(self, chances: int) -> bool:
        """Whether one of some chances comes."""
        return bool(self._draw(st.integers(1, chances)) == chances)

    def _some(self, of: dict[str, st.SearchStrategy[Any]], most: int) -> dict[str, Any]:
        keys = st.lists(st.sampled_from(sorted(of)), max_size=most, unique=True)
        return {key: self._draw(of[key]) for key in (self._draw(keys) if of else ())}

    def root(self) -> dict[str, Any]:
        keyword = self._one("$defs", "definitions")
        names = self._draw(
            st.lists(st.sampled_from(_DEFINITIONS), unique=True, max_size=2)
        )
        for name in names:
            escaped = name.replace("~", "~0").replace("/", "~1")
            self._references.append(f"#/{keyword}/{escaped}")
        if not self._is_plain and self._is(3):
            self._references.append("#")
        root = self.object(_MOST_LEVELS)
        if not self._is_plain and self._is(4):
            root |= self._conditions(1)
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
        found = self._draw(st.sampled_from(kinds))(levels)
        if isinstance(found, dict) and self._is(3):
            found = {**self._some(_WORDS, 2), **found}
        return found

    def scalar(self, levels: int) -> Any:
        name = self._one("string", "integer", "number", "boolean", "null")
        return {"type": name, **self._some(_BOUNDS.get(name, {}), 2)}

    def values(self, levels: int) -> Any:
        of = _SCALARS if self._is_plain else _VALUES
        if self._is(3):
            return {"const": self._one(*of)}
        values = self._draw(
            st.lists(st.sampled_from(of), min_size=1, max_size=4, unique_by=repr)
        )
        typed = {"type": self._one(*_TYPES)} if self._is(6) else {}
        return {**typed, "enum": values}

    def nullable(self, levels: int) -> Any:
        """Null in all its spellings."""
        inner = self.schema(levels - 1)
        null = self._one({"type": "null"}, {"const": None}, {"enum": [None]})
        if isinstance(inner, dict) and self._is(2):
            if inner.get("type") in _NOT_NULL:
                return {**inner, "type": [inner["type"], "null"]}
            if "enum" in inner and None not in inner["enum"]:
                return {**inner, "enum": [*inner["enum"], None]}
        pair = [inner, null] if self._is(2) else [null, inner]
        return {self._one("anyOf", "anyOf", "oneOf"): pair}

    def reference(self, levels: int) -> Any:
        beside = {} if self._is_plain or not self._is(4) else self.schema(levels - 1)
        if not isinstance(beside, dict):
            beside = {}
        return {**beside, "$ref": self._one(*self._references)}

    def anything(self, levels: int) -> Any:
        kind = self._one("{}", "true", "false", "untyped", "of types")
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
            return {"type": types, **self._some(_BOUNDS["number"], 1)}
        return {"{}": {}, "true": True, "false": False}[kind]

    def object(self, levels: int) -> dict[str, Any]:
        names = self._draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4))
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.schema(levels - 1) for name in names},
        }
        needed = [name for name in names if self._is(2)]
        if not self._is_plain and self._is(8):
            needed.append("not declared")
        if needed:
            schema["required"] = needed
        if self._is_plain or self._is(2):
            schema["additionalProperties"] = False
        elif self._is(4):
            schema["additionalProperties"] = self.schema(0)
        if not self._is_plain and names and self._is(3):
            schema |= self._of_names(names, levels)
        return schema

    def _of_names(self, names: list[str], levels: int) -> dict[str, Any]:
        """What else tells of the properties of an object by their names."""
        name = self._one(*names)
        kind = self._one(
            "dependentRequired",
            "dependentSchemas",
            "patternProperties",
            "propertyNames",
            "if",
            "enum",
            "unevaluatedProperties",
            "minProperties",
        )
        needed = {"required": [self._one(*names)]}
        if kind == "dependentRequired":
            key = "dependencies" if self._is_old else kind
            return {key: {name: needed["required"]}}
        if kind == "dependentSchemas":
            key = "dependencies" if self._is_old else kind
            return {key: {name: needed}}
        if kind == "patternProperties":
            patterns = ["^x", "^[a-z]$", "-", "^n+$", "^\\p{L}$"]
            found = {self._one(*patterns): self.schema(0)}
            closing = (
                {} if self._is_old or self._is(2) else {"unevaluatedProperties": False}
            )
            return {kind: found, **closing}
        if kind == "propertyNames":
            return {
                kind: self._one(
                    {"enum": [*NAMES, "not declared"]},
                    {"enum": [name]},
                    {"pattern": "^[a-z]"},
                    {"maxLength": 3},
                )
            }
        if kind == "if":
            return self._conditions(levels)
        if kind == "enum":
            return {"enum": [{name: "red"}, {}, {name: None}]}
        if kind == "unevaluatedProperties":
            return {} if self._is_old else {kind: False}
        return {kind: 1, "maxProperties": 2}

    def _conditions(self, levels: int) -> dict[str, Any]:
        """Which parameters go together, in the ways that people say it."""
        names = self._draw(
            st.lists(st.sampled_from(NAMES[:4]), unique=True, min_size=2, max_size=2)
        )
        sides: list[dict[str, Any]] = [{"required": [name]} for name in names]
        if self._is(2):
            sides[0]["properties"] = {names[0]: self.schema(0)}
        if self._is(2):
            return {self._one("anyOf", "oneOf", "allOf"): sides}
        if self._is(3):
            return {"not": {"required": names}}
        return {
            "if": {"properties": {names[0]: {"const": "red"}}, **sides[0]},
            self._one("then", "else"): sides[1],
        }

    def array(self, levels: int) -> Any:
        schema: dict[str, Any] = {"type": "array"}
        kind = self._one("items", "items", "items", "places", "any")
        if kind == "items" or (kind == "any" and self._is_plain):
            schema["items"] = self.schema(levels - 1)
        elif kind == "places":
            places = [self.schema(levels - 1) for _ in range(self._one(1, 2))]
            further = self._one(True, False, None, {"type": "string"})
            schema["items" if self._is_old else "prefixItems"] = places
            if further is not None:
                schema["additionalItems" if self._is_old else "items"] = further
        if not self._is_plain and not self._is_old and self._is(3):
            schema["unevaluatedItems"] = self._one(False, {"type": "string"})
        counts: dict[str, st.SearchStrategy[Any]] = {
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(1, 3),
            "uniqueItems": st.booleans(),
        }
        if not self._is_plain:
            counts["contains"] = st.just({"type": "string"})
        return {**schema, **self._some(counts, 2)}

    def map(self, levels: int) -> Any:
        further = self.schema(levels - 1)
        if self._is(2):
            return {"type": "object", "additionalProperties": further}
        return {"type": "object"}

    def alternatives(self, levels: int) -> Any:
        members = [self.schema(levels - 1) for _ in range(self._one(1, 2, 3))]
        beside = {"description": "Of several."} if self._is(3) else {}
        return {**beside, self._one("anyOf", "anyOf", "oneOf"): members}

    def combined(self, levels: int) -> Any:
        if self._is(2):
            members = [self.object(levels - 1), self.object(levels - 1)]
        else:
            members = [self.schema(levels - 1) for _ in range(self._one(1, 2))]
        return {"allOf": members}

    def several(self, levels: int) -> Any:
        """What is seldom said, and all at once."""
        base = self.schema(levels - 1)
        schema: dict[str, Any] = base if isinstance(base, dict) else {}
        key = self._one("not", "if", "anyOf", "allOf", "oneOf")
        if key == "if":
            more = {key: self.schema(0), self._one("then", "else"): self.schema(0)}
        elif key == "not":
            more = {key: self.schema(0)}
        else:
            more = {key: [self.schema(levels - 1), self.schema(0)]}
        return {**schema, **more}
