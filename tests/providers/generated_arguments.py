"""Strategies: arguments near what a schema allows; and the oracle that says what it allows.

The oracle is the package `jsonschema`, which the runtime does not use.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema
from hypothesis import assume
from hypothesis import strategies as st

from tests.providers.generated_schemas import NAMES
from toolcast_runtime.providers.schema_rendering import RenderedSchema

__all__ = [
    "UnsendableArgumentsError",
    "allows",
    "arguments_near",
    "as_sent",
    "refused_at",
]

_SCALARS = [None, True, False, "", "a", "red", "2026-11-22", "xx", 0, 1, 1.0, 2, 3, -1]
_ANY = [*_SCALARS, 0.5, 1.5, 2**53, [], {}, ["red"], [1, "a"], {"a": 1}, {"a": None}]
_DEEPEST = 12


def allows(schema: Any, value: Any) -> bool:
    """Whether a value is valid. A schema that is none, or has no end, is no example."""
    schema = _of_python(schema)
    kind = jsonschema.validators.validator_for(
        schema, default=jsonschema.Draft202012Validator
    )
    try:
        kind.check_schema(schema)
        found: bool = kind(schema).is_valid(value)
    except (RecursionError, jsonschema.SchemaError):
        assume(False)
    return found


def _of_python(schema: Any) -> Any:
    """A schema with its patterns as Python writes them."""
    text = json.dumps(schema)
    for ecma, python in ((r"\\p{L}", "[a-zA-Z]"), ("(?<first>", "(?P<first>")):
        text = text.replace(ecma, python)
    return json.loads(text)


def refused_at(schema: Any, value: Any) -> list[set[str]]:
    """The places of the keywords that refuse a value, as pointers: some names of each.

    What refuses every alternative is one of the places of the alternatives.
    """
    schema = _of_python(schema)
    kind = jsonschema.validators.validator_for(
        schema, default=jsonschema.Draft202012Validator
    )
    try:
        return [_places(schema, one) for one in kind(schema).iter_errors(value)]
    except (RecursionError, KeyError):
        # What makes a value invalid at once may stand beside what has no end; and a reference
        # that is not named beside the same keyword.
        assume(False)
        raise


def _places(root: Any, error: Any) -> set[str]:
    """Where a keyword stands, and where it stands by the references that lead there."""
    found, places = root, ["/parameters"]
    for step in [*error.absolute_schema_path, None]:
        for _ in range(_DEEPEST):  # The package names no references on the way.
            if isinstance(found, Mapping) and step not in found and "$ref" in found:
                places.append(f"/parameters{found['$ref'].removeprefix('#')}")
                found = pointed(root, found["$ref"])
        if step is not None:
            found = found[step]
            escaped = str(step).replace("~", "~0").replace("/", "~1")
            places = [f"{place}/{escaped}" for place in places]
    return set(places).union(*(_places(root, one) for one in error.context))


@st.composite
def arguments_near(draw: st.DrawFn, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that a schema allows, mostly."""
    value = _Arguments(draw, schema).value(schema, 0)
    assume(isinstance(value, dict))
    found: dict[str, Any] = value
    return found


class _Arguments:
    def __init__(self, draw: st.DrawFn, root: Mapping[str, Any]) -> None:
        self._draw = draw
        self._root = root

    def _one(self, of: Any) -> Any:
        return self._draw(st.sampled_from(list(of)))

    def _is(self, chances: int) -> bool:
        return bool(self._draw(st.integers(1, chances)) == chances)

    def value(self, schema: Any, levels: int) -> Any:
        if levels > _DEEPEST or not isinstance(schema, Mapping) or self._is(40):
            return self._one(_ANY)
        flat = self._flat(schema, 0)
        if "const" in flat:
            return flat["const"]
        if flat.get("enum"):
            return self._one(flat["enum"])
        types = flat.get("type", self._implied(flat))
        name = types if isinstance(types, str) else self._one(types)
        return self._of_type(name, flat, levels)

    def _implied(self, flat: Mapping[str, Any]) -> list[str]:
        if flat.keys() & {"properties", "required", "additionalProperties"}:
            return ["object"]
        if flat.keys() & {"items", "prefixItems"}:
            return ["array"]
        return ["string", "integer", "number", "boolean", "null", "array", "object"]

    def _flat(self, schema: Any, steps: int) -> dict[str, Any]:
        """One schema in place of a reference, of all members and of one alternative."""
        if not isinstance(schema, Mapping) or steps > _DEEPEST:
            return {}
        flat = dict(schema)
        more = [*flat.pop("allOf", ())]
        if "$ref" in flat:
            more.append(pointed(self._root, flat.pop("$ref")))
        for keyword in ("anyOf", "oneOf"):
            if flat.get(keyword):
                more.append(self._one(flat.pop(keyword)))
        for keyword in ("then", "else"):
            if keyword in flat and self._is(2):
                more.append(flat.pop(keyword))
        for one in more:
            flat = _together(flat, self._flat(one, steps + 1))
        return flat

    def _of_type(self, name: str, flat: Mapping[str, Any], levels: int) -> Any:
        if name == "object":
            return self._object(flat, levels)
        if name == "array":
            return self._list(flat, levels)
        if name in ("integer", "number"):
            near = [flat[k] + n for k in flat if "imum" in k for n in (0, 1, -1, 0.5)]
            return self._one(
                [*near, 0, 1, 2, 1.0] if name == "integer" else [*near, 0.5]
            )
        plain = {"boolean": [True, False], "null": [None]}
        return self._one(plain.get(name, [t for t in _ANY if isinstance(t, str)]))

    def _object(self, flat: Mapping[str, Any], levels: int) -> dict[str, Any]:
        value = {}
        declared = flat.get("properties", {})
        for name, inner in declared.items():
            if name in flat.get("required", ()) or self._is(2):
                value[name] = self.value(inner, levels + 1)
        further = flat.get("additionalProperties", True)
        if (not declared or further is not False) and self._is(3):
            name = self._one([*NAMES, "more", "not declared", "x_z"])
            value.setdefault(name, self.value(further, levels + 1))
        return value

    def _list(self, flat: Mapping[str, Any], levels: int) -> list[Any]:
        items, places = flat.get("items", True), flat.get("prefixItems", [])
        if isinstance(items, list):
            items, places = flat.get("additionalItems", True), items
        count = self._draw(st.integers(min(flat.get("minItems", 0), 3), 3))
        return [
            self.value(places[n] if n < len(places) else items, levels + 1)
            for n in range(min(count, flat.get("maxItems", count)))
        ]


def pointed(root: Any, reference: str) -> Any:
    """What a reference within a schema leads to."""
    found = root
    for step in reference.removeprefix("#").split("/")[1:]:
        found = found[step.replace("~1", "/").replace("~0", "~")]
    return found


def _together(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    both = {**first, **second}
    properties = {**first.get("properties", {}), **second.get("properties", {})}
    if properties:
        both["properties"] = properties
    needed = [*first.get("required", ()), *second.get("required", ())]
    if needed:
        both["required"] = needed
    return both


class UnsendableArgumentsError(Exception):
    """A form has no words for what is meant: it takes its null for an absence, say."""


def as_sent(meant: Any, schema: Any, rendered: RenderedSchema) -> Any:
    """Arguments of a spec as a model sends them: null for each optional one that is absent.

    The inverse of the adapter, of a simpler make: it tries each alternative in turn.
    """
    if not isinstance(schema, Mapping) or not isinstance(meant, (dict, list)):
        return meant
    if rendered.names:
        return _with_new_names(meant, [schema], rendered)
    root = rendered.schema
    for _ in range(_DEEPEST):
        if "$ref" in schema and len(schema) == 1:
            schema = pointed(root, schema["$ref"])
    if "anyOf" in schema and "properties" not in schema and "items" not in schema:
        for one in schema["anyOf"]:
            try:
                sent = as_sent(meant, one, rendered)
            except UnsendableArgumentsError:
                continue
            parts = {**root.get("$defs", {}), "alone": one}
            whole = {**root, "$id": "urn:whole", "$defs": parts}
            alone = {"$ref": "urn:whole#/$defs/alone", "$defs": {"whole": whole}}
            if allows(alone, sent):
                return sent
        raise UnsendableArgumentsError
    if isinstance(meant, list):
        items, places = schema.get("items"), schema.get("prefixItems", [])
        return [
            as_sent(one, places[n] if n < len(places) else items, rendered)
            for n, one in enumerate(meant)
        ]
    absent = rendered.get_absent(schema)
    given: dict[str, Any] = dict.fromkeys(absent)
    for name, inner in meant.items():
        if inner is None and name in absent:
            raise UnsendableArgumentsError
        given[name] = as_sent(inner, schema.get("properties", {}).get(name), rendered)
    return given


def _with_new_names(meant: Any, schemas: list[Any], rendered: RenderedSchema) -> Any:
    """Values as a form names their properties, for forms that take an absence as it is."""
    waiting, here = list(schemas), list[Any]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping) and one not in here:
            here.append(one)
            for key in ("allOf", "anyOf", "oneOf"):
                waiting += one.get(key, ())
            for key in ("not", "if", "then", "else"):
                waiting.append(one.get(key))
            waiting += one.get("dependentSchemas", {}).values()
            if "$ref" in one:
                waiting.append(pointed(rendered.schema, one["$ref"]))
    if isinstance(meant, list):
        below = [i for one in here for i in [one.get("items"), one.get("contains")]]
        places = [one.get("prefixItems", []) for one in here]
        return [
            _with_new_names(
                item, below + [p[n] for p in places if n < len(p)], rendered
            )
            for n, item in enumerate(meant)
        ]
    if not isinstance(meant, dict):
        return meant
    text = json.dumps(
        [
            {k: v for k, v in one.items() if k not in ("default", "examples")}
            for one in here
        ]
    )
    renamed = {}
    for old, inner in meant.items():
        new = rendered.names.get(old, old)
        name = new if json.dumps(new) in text else old
        held = [one.get("properties", {}).get(name) for one in here]
        held += [one.get("additionalProperties") for one in here]
        for one in here:
            held += one.get("patternProperties", {}).values()
        renamed[name] = _with_new_names(inner, held, rendered)
    return renamed
