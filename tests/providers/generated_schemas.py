"""Strategies: schemas of arguments as people write them, and arguments that they allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from toolcast_runtime.providers.schemas.rendered import RenderedSchema
from toolcast_runtime.validation.compiled import build
from toolcast_runtime.validation.references import References

NAMES = st.sampled_from(["a", "b", "c", "x-y", "n"])
_TEXTS = st.sampled_from(["", "a", "red", "a longer text", "2026-11-22"])
_LEVELS = 2


@st.composite
def schemas(draw: st.DrawFn) -> dict[str, Any]:
    """A schema of arguments, with definitions that may refer to each other and themselves."""
    names = draw(st.lists(st.sampled_from(["one", "two"]), unique=True))
    references = st.sampled_from(
        [{"$ref": f"#/$defs/{name}"} for name in names] or [{}]
    )
    inner = _inner(references if names else None)
    root = draw(_objects(inner))
    if names:
        root["$defs"] = {name: draw(_objects(inner)) for name in names}
    return root


def _inner(references: st.SearchStrategy[Any] | None) -> st.SearchStrategy[Any]:
    leaves = [
        st.sampled_from(
            [
                {"type": "string"},
                {"type": "string", "minLength": 1, "description": "Words."},
                {"type": ["string", "null"], "default": None},
                {"type": ["string", "integer", "null"]},
                {"type": "integer", "minimum": 0, "exclusiveMaximum": 5},
                {"type": "number", "multipleOf": 0.5},
                {"type": "boolean", "default": True},
                {"type": "null"},
                {"enum": ["red", "blue", None]},
                {"enum": ["red", 2]},
                {"const": "red"},
                {"type": "string", "format": "date", "title": "Day"},
                {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
                {"type": "array"},
                {"type": "object"},
                {"type": "object", "additionalProperties": {"type": "string"}},
                {},
                True,
            ]
        )
    ]
    if references is not None:
        leaves.append(references)
    return st.recursive(st.one_of(leaves), _grown, max_leaves=4)


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    members = st.lists(inner, min_size=1, max_size=3)
    lists = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner},
        optional={"minItems": st.just(1), "maxItems": st.just(2)},
    )
    alternatives = st.fixed_dictionaries({"anyOf": members})
    one_of = st.fixed_dictionaries({"oneOf": members})
    all_of = st.fixed_dictionaries({"allOf": members}, optional={"description": _TEXTS})
    pairs = st.fixed_dictionaries({"type": st.just("array"), "prefixItems": members})
    return st.one_of(_objects(inner), lists, alternatives, one_of, all_of, pairs)


@st.composite
def _objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    properties = draw(st.dictionaries(NAMES, inner, max_size=4))
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    needed = [name for name in properties if draw(st.booleans())]
    if needed:
        schema["required"] = needed
    if draw(st.integers(0, 3)):
        schema["additionalProperties"] = False
    return schema


@st.composite
def arguments_of(draw: st.DrawFn, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that a schema allows."""
    value = draw(_values(schema, References(schema), _LEVELS))
    assume(isinstance(value, dict) and build(schema).is_valid(value))
    found: dict[str, Any] = value
    return found


def _values(schema: Any, references: References, levels: int) -> st.SearchStrategy[Any]:
    """Values that a schema allows, mostly."""
    if not isinstance(schema, Mapping) or not schema or levels < 0:
        return st.sampled_from([None, "red", 2, 1.5, True, [], {}, ["red"]])
    if "$ref" in schema:
        return st.deferred(
            lambda: _values(references.target(schema["$ref"]), references, levels - 1)
        )
    for keyword in ("anyOf", "oneOf"):
        if keyword in schema:
            base = {key: value for key, value in schema.items() if key != keyword}
            return st.one_of(
                [
                    _values(_with(base, one), references, levels)
                    for one in schema[keyword]
                ]
            )
    if "allOf" in schema:
        rest = {key: value for key, value in schema.items() if key != "allOf"}
        for one in schema["allOf"]:
            rest = _with(rest, one)
        return _values(rest, references, levels)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    named = schema.get("type", ["object"])
    types = [named] if isinstance(named, str) else named
    return st.one_of([_of_type(one, schema, references, levels) for one in types])


def _with(base: Mapping[str, Any], member: Any) -> dict[str, Any]:
    if not isinstance(member, Mapping):
        return dict(base)
    both = {**base, **member}
    if "properties" in base and "properties" in member:
        both["properties"] = {**base["properties"], **member["properties"]}
    both["required"] = [*base.get("required", ()), *member.get("required", ())]
    return both


def _of_type(
    name: str, schema: Mapping[str, Any], references: References, levels: int
) -> st.SearchStrategy[Any]:
    if name == "object":
        inner = {
            key: _values(one, references, levels - 1)
            for key, one in schema.get("properties", {}).items()
        }
        needed = {
            key: inner.pop(key) for key in schema.get("required", ()) if key in inner
        }
        return st.fixed_dictionaries(needed, optional=inner)
    if name == "array":
        each = _values(schema.get("items", True), references, levels - 1)
        places = schema.get("prefixItems", [])
        if places:
            return st.tuples(*[_values(p, references, levels - 1) for p in places]).map(
                list
            )
        least = schema.get("minItems", 0) if levels > 0 else 0
        return st.lists(each, min_size=least, max_size=schema.get("maxItems", 3))
    plain: dict[str, st.SearchStrategy[Any]] = {
        "string": _TEXTS,
        "integer": st.integers(0, 4),
        "number": st.sampled_from([0, 1.5, 4, 2.0]),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return plain[name]


class CannotBeSent(Exception):
    """A form has no words for what is meant: it takes its null for an absence, say."""


def as_sent(meant: Any, schema: Any, rendered: RenderedSchema) -> Any:
    """Arguments of a spec as a model sends them: null for each optional one that is absent.

    The inverse of the adapter, of a simpler make: it tries each alternative in turn.
    """
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        reference = schema["$ref"]
        root = rendered.schema
        named = (
            root if reference == "#" else root["$defs"][reference.rpartition("/")[2]]
        )
        if isinstance(named.get("$ref"), str):  # It may lead back to itself.
            return meant
        return as_sent(meant, named, rendered)
    if isinstance(schema, Mapping) and "anyOf" in schema:
        return _as_one_of(meant, schema["anyOf"], rendered)
    if isinstance(meant, list) and isinstance(schema, Mapping):
        items = schema.get("items")
        return [as_sent(one, items, rendered) for one in meant]
    if isinstance(meant, dict) and isinstance(schema, Mapping):
        undo = rendered.undo_of(schema)
        if any(name in undo.absent and meant[name] is None for name in meant):
            raise CannotBeSent
        new_names = {old: new for new, old in undo.names.items()}
        properties = schema.get("properties", {})
        sent = {
            new_names.get(name, name): as_sent(
                one, properties.get(new_names.get(name, name)), rendered
            )
            for name, one in meant.items()
        }
        return {**dict.fromkeys(undo.absent), **sent}
    return meant


def _as_one_of(meant: Any, members: list[Any], rendered: RenderedSchema) -> Any:
    for one in members:
        try:
            sent = as_sent(meant, one, rendered)
        except CannotBeSent:
            continue
        if build({**rendered.schema, **_alone(one)}).is_valid(sent):
            return sent
    raise CannotBeSent


def _alone(member: Any) -> dict[str, Any]:
    return {
        "type": ["object", "array", "string", "number", "boolean", "null"],
        "properties": {},
        "required": [],
        "additionalProperties": True,
        "allOf": [member],
    }
