"""A Hypothesis strategy for the valid values of a schema."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from hypothesis import strategies as st

from toolcast_runtime.core.validation.references import References

__all__ = ["valid_values"]

_MAX_DEPTH = 5
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=8),
    "integer": st.integers(-(2**53), 2**53),
    "number": st.integers(-9, 9) | st.floats(-1e6, 1e6),
    "boolean": st.booleans(),
    "null": st.none(),
}
_ASCII = st.characters(max_codepoint=127)
_ANYTHING = st.one_of(*_SCALARS.values(), st.just([1]), st.just({"a": "b"}))


def valid_values(schema: Any) -> st.SearchStrategy[Any]:
    """Draw valid values of a schema, checked by a validator."""
    references = References(schema)

    def draw(part: Any, depth: int = 0) -> st.SearchStrategy[Any]:
        if not isinstance(part, dict):
            return st.nothing() if part is False else _ANYTHING
        if depth > _MAX_DEPTH:
            return st.sampled_from([None, "a", 1, [], {}])
        if "$ref" in part:
            rest = {key: value for key, value in part.items() if key != "$ref"}
            return draw(_merge(references.resolve(part["$ref"]), rest), depth)
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in part:
                rest = {key: value for key, value in part.items() if key != keyword}
                if keyword == "allOf":
                    for member in part[keyword]:
                        rest = _merge(rest, member)
                    return draw(rest, depth)
                members = part[keyword]
                return st.one_of([draw(_merge(rest, m), depth) for m in members])
        if "const" in part:
            return st.just(part["const"])
        if part.get("enum"):
            return st.sampled_from(part["enum"])
        kinds = part.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return st.one_of([draw_as(part, kind, depth) for kind in kinds] or [_ANYTHING])

    def draw_as(part: dict[str, Any], kind: str, depth: int) -> st.SearchStrategy[Any]:
        if kind == "array":
            if "prefixItems" in part:
                return st.tuples(
                    *[draw(p, depth + 1) for p in part["prefixItems"]]
                ).map(list)
            items = draw(part.get("items"), depth + 1)
            return st.lists(items, min_size=min(part.get("minItems", 0), 9), max_size=9)
        if kind == "string":
            if "pattern" in part:
                # Python's `\d` and `\w` match characters that JSON Schema's do not.
                return st.from_regex(part["pattern"], alphabet=_ASCII)
            min_length = part.get("minLength", 0)
            return st.text(min_size=min_length, max_size=min_length + 8)
        if kind != "object":
            return _SCALARS[kind]
        properties = part.get("properties", {})
        required = part.get("required", [])
        members = {key: draw(value, depth + 1) for key, value in properties.items()}
        named = st.fixed_dictionaries(
            {key: members.get(key, _ANYTHING) for key in required},
            optional={key: members[key] for key in properties if key not in required},
        )
        extra_value = draw(part.get("additionalProperties", True), depth + 1)
        keys = st.sampled_from(["s_a", "b", "other"])
        patterns = [
            draw(p, depth + 1) for p in part.get("patternProperties", {}).values()
        ]
        extra = st.dictionaries(keys, st.one_of(extra_value, *patterns), max_size=2)
        return st.builds(lambda a, b: {**b, **a}, named, st.just({}) | extra)

    return draw(schema).filter(jsonschema_rs.validator_for(schema).is_valid)


def _merge(first: Any, second: Any) -> Any:
    """Return a schema for both; keywords of the second one usually win."""
    if not isinstance(first, dict) or not isinstance(second, dict):
        return first if isinstance(first, dict) else second
    merged = {**first, **second}
    for keyword in ("allOf", "anyOf"):
        if keyword in first and keyword in second:
            merged["allOf"] = [{keyword: first[keyword]}, {keyword: second[keyword]}]
            merged.pop("anyOf", None)
    if "properties" in first and "properties" in second:
        merged["properties"] = {**first["properties"], **second["properties"]}
    if "required" in first and "required" in second:
        merged["required"] = list(
            dict.fromkeys([*first["required"], *second["required"]])
        )
    return merged
