"""A strategy for the values that a schema lets through, in depth."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from hypothesis import strategies as st

from toolcast_runtime.core.validation.references import References

__all__ = ["valid_values"]

_DEEPEST = 5
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(max_size=8),
    "integer": st.integers(-(2**53), 2**53),
    "number": st.integers(-9, 9) | st.floats(-1e6, 1e6),
    "boolean": st.booleans(),
    "null": st.none(),
}
_ANYTHING = st.one_of(*_SCALARS.values(), st.just([1]), st.just({"a": "b"}))


def valid_values(schema: Any) -> st.SearchStrategy[Any]:
    """Values of a schema; those that a validator refuses are not drawn."""
    references = References(schema)

    def of(part: Any, depth: int = 0) -> st.SearchStrategy[Any]:
        if not isinstance(part, dict):
            return st.nothing() if part is False else _ANYTHING
        if depth > _DEEPEST:
            return st.sampled_from([None, "a", 1, [], {}])
        if "$ref" in part:
            rest = {key: value for key, value in part.items() if key != "$ref"}
            return of(_both(references.resolve(part["$ref"]), rest), depth)
        for keyword in ("allOf", "anyOf", "oneOf"):
            if keyword in part:
                rest = {key: value for key, value in part.items() if key != keyword}
                if keyword == "allOf":
                    for member in part[keyword]:
                        rest = _both(rest, member)
                    return of(rest, depth)
                members = part[keyword]
                return st.one_of([of(_both(rest, one), depth) for one in members])
        if "const" in part:
            return st.just(part["const"])
        if part.get("enum"):
            return st.sampled_from(part["enum"])
        kinds = part.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return st.one_of([of_kind(part, kind, depth) for kind in kinds] or [_ANYTHING])

    def of_kind(part: dict[str, Any], kind: str, depth: int) -> st.SearchStrategy[Any]:
        if kind == "array":
            if "prefixItems" in part:
                return st.tuples(*[of(p, depth + 1) for p in part["prefixItems"]]).map(
                    list
                )
            items = of(part.get("items"), depth + 1)
            return st.lists(items, min_size=min(part.get("minItems", 0), 9), max_size=9)
        if kind == "string":
            if "pattern" in part:
                return st.from_regex(part["pattern"])
            least = part.get("minLength", 0)
            return st.text(min_size=least, max_size=least + 8)
        if kind != "object":
            return _SCALARS[kind]
        properties = part.get("properties", {})
        needed = part.get("required", [])
        members = {key: of(value, depth + 1) for key, value in properties.items()}
        named = st.fixed_dictionaries(
            {key: members.get(key, _ANYTHING) for key in needed},
            optional={key: members[key] for key in properties if key not in needed},
        )
        more = of(part.get("additionalProperties", True), depth + 1)
        keys = st.sampled_from(["s_a", "b", "other"])
        patterns = [
            of(p, depth + 1) for p in part.get("patternProperties", {}).values()
        ]
        extra = st.dictionaries(keys, st.one_of(more, *patterns), max_size=2)
        return st.builds(lambda a, b: {**b, **a}, named, st.just({}) | extra)

    return of(schema).filter(jsonschema_rs.validator_for(schema).is_valid)


def _both(one: Any, other: Any) -> Any:
    """A schema for both; where they say the same keyword, mostly what the second says."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one if isinstance(one, dict) else other
    made = {**one, **other}
    for keyword in ("allOf", "anyOf"):
        if keyword in one and keyword in other:
            made["allOf"] = [{keyword: one[keyword]}, {keyword: other[keyword]}]
            made.pop("anyOf", None)
    if "properties" in one and "properties" in other:
        made["properties"] = {**one["properties"], **other["properties"]}
    if "required" in one and "required" in other:
        made["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    return made
