"""Hypothesis strategies for arguments near a schema, and a reference validator.

The validator is the package `jsonschema`, which the runtime does not use.
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
    "is_allowed",
    "arguments_near_schema",
    "encode_arguments",
    "find_rejecting_keywords",
]

_SCALARS = [None, True, False, "", "a", "red", "2026-11-22", "xx", 0, 1, 1.0, 2, 3, -1]
_ANY = [*_SCALARS, 0.5, 1.5, 2**53, [], {}, ["red"], [1, "a"], {"a": 1}, {"a": None}]
_MAX_DEPTH = 12


def is_allowed(schema: Any, value: Any) -> bool:
    """Return whether a value is valid; discard endlessly recursive schemas."""
    schema = _convert_patterns(schema)
    kind = jsonschema.validators.validator_for(
        schema, default=jsonschema.Draft202012Validator
    )
    try:
        found: bool = kind(schema).is_valid(value)
    except RecursionError:
        assume(False)
    return found


def _convert_patterns(schema: Any) -> Any:
    """Return a schema with its patterns in Python's syntax."""
    text = json.dumps(schema)
    for ecma, python in ((r"\\p{L}", "[a-zA-Z]"), ("(?<first>", "(?P<first>")):
        text = text.replace(ecma, python)
    return json.loads(text)


def find_rejecting_keywords(schema: Any, value: Any) -> list[set[str]]:
    """Return the possible JSON Pointers of each keyword that rejects a value.

    If all alternatives of a keyword reject the value, their paths are also included.
    """
    schema = _convert_patterns(schema)
    kind = jsonschema.validators.validator_for(
        schema, default=jsonschema.Draft202012Validator
    )
    try:
        return [_list_paths(schema, error) for error in kind(schema).iter_errors(value)]
    except (RecursionError, KeyError):
        # An endless reference or one that `jsonschema` cannot resolve may be next to
        # the keyword that rejects the value.
        assume(False)
        raise


def _list_paths(root: Any, error: Any) -> set[str]:
    """Return the paths of a keyword: its own, and those through references to it."""
    schema, paths = root, ["/parameters"]
    for step in [*error.absolute_schema_path, None]:
        for _ in range(_MAX_DEPTH):  # `jsonschema` leaves references out of its paths.
            if isinstance(schema, Mapping) and step not in schema and "$ref" in schema:
                paths.append(f"/parameters{schema['$ref'].removeprefix('#')}")
                schema = resolve_pointer(root, schema["$ref"])
        if step is not None:
            schema = schema[step]
            escaped = str(step).replace("~", "~0").replace("/", "~1")
            paths = [f"{path}/{escaped}" for path in paths]
    return set(paths).union(*(_list_paths(root, cause) for cause in error.context))


@st.composite
def arguments_near_schema(draw: st.DrawFn, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Draw arguments that are mostly valid for a schema."""
    value = _Arguments(draw, schema).value(schema, 0)
    assume(isinstance(value, dict))
    arguments: dict[str, Any] = value
    return arguments


class _Arguments:
    def __init__(self, draw: st.DrawFn, root: Mapping[str, Any]) -> None:
        self._draw = draw
        self._root = root

    def _choose(self, choices: Any) -> Any:
        return self._draw(st.sampled_from(list(choices)))

    def _happens(self, odds: int) -> bool:
        return bool(self._draw(st.integers(1, odds)) == odds)

    def value(self, schema: Any, levels: int) -> Any:
        if levels > _MAX_DEPTH or not isinstance(schema, Mapping) or self._happens(40):
            return self._choose(_ANY)
        flat = self._flatten(schema, 0)
        if "const" in flat:
            return flat["const"]
        if flat.get("enum"):
            return self._choose(flat["enum"])
        types = flat.get("type", self._list_implied_types(flat))
        name = types if isinstance(types, str) else self._choose(types)
        return self._draw_type(name, flat, levels)

    def _list_implied_types(self, flat: Mapping[str, Any]) -> list[str]:
        if flat.keys() & {"properties", "required", "additionalProperties"}:
            return ["object"]
        if flat.keys() & {"items", "prefixItems"}:
            return ["array"]
        return ["string", "integer", "number", "boolean", "null", "array", "object"]

    def _flatten(self, schema: Any, steps: int) -> dict[str, Any]:
        """Return a schema with its references, `allOf` and one alternative merged."""
        if not isinstance(schema, Mapping) or steps > _MAX_DEPTH:
            return {}
        flat = dict(schema)
        others = [*flat.pop("allOf", ())]
        if "$ref" in flat:
            others.append(resolve_pointer(self._root, flat.pop("$ref")))
        for keyword in ("anyOf", "oneOf"):
            if flat.get(keyword):
                others.append(self._choose(flat.pop(keyword)))
        for keyword in ("then", "else"):
            if keyword in flat and self._happens(2):
                others.append(flat.pop(keyword))
        for other in others:
            flat = _merge(flat, self._flatten(other, steps + 1))
        return flat

    def _draw_type(self, name: str, flat: Mapping[str, Any], levels: int) -> Any:
        if name == "object":
            return self._draw_object(flat, levels)
        if name == "array":
            return self._draw_array(flat, levels)
        if name in ("integer", "number"):
            near = [flat[k] + n for k in flat if "imum" in k for n in (0, 1, -1, 0.5)]
            return self._choose(
                [*near, 0, 1, 2, 1.0] if name == "integer" else [*near, 0.5]
            )
        fixed = {"boolean": [True, False], "null": [None]}
        return self._choose(fixed.get(name, [t for t in _ANY if isinstance(t, str)]))

    def _draw_object(self, flat: Mapping[str, Any], levels: int) -> dict[str, Any]:
        value = {}
        declared = flat.get("properties", {})
        for name, subschema in declared.items():
            if name in flat.get("required", ()) or self._happens(2):
                value[name] = self.value(subschema, levels + 1)
        additional = flat.get("additionalProperties", True)
        if (not declared or additional is not False) and self._happens(3):
            name = self._choose([*NAMES, "more", "not declared", "x_z"])
            value.setdefault(name, self.value(additional, levels + 1))
        return value

    def _draw_array(self, flat: Mapping[str, Any], levels: int) -> list[Any]:
        items, prefixes = flat.get("items", True), flat.get("prefixItems", [])
        if isinstance(items, list):
            items, prefixes = flat.get("additionalItems", True), items
        count = self._draw(st.integers(min(flat.get("minItems", 0), 3), 3))
        return [
            self.value(prefixes[n] if n < len(prefixes) else items, levels + 1)
            for n in range(min(count, flat.get("maxItems", count)))
        ]


def resolve_pointer(root: Any, reference: str) -> Any:
    """Return the target of a reference within `root`."""
    schema = root
    for step in reference.removeprefix("#").split("/")[1:]:
        schema = schema[step.replace("~1", "/").replace("~0", "~")]
    return schema


def _merge(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**first, **second}
    properties = {**first.get("properties", {}), **second.get("properties", {})}
    if properties:
        merged["properties"] = properties
    required = [*first.get("required", ()), *second.get("required", ())]
    if required:
        merged["required"] = required
    return merged


class UnsendableArgumentsError(Exception):
    """Arguments that a rendered schema cannot express."""


def encode_arguments(arguments: Any, schema: Any, rendered: RenderedSchema) -> Any:
    """Return arguments as a model sends them, with null for each absent optional one.

    This is the inverse of `restore_arguments`, and simpler: it tries each alternative
    in turn.
    """
    if not isinstance(schema, Mapping) or not isinstance(arguments, (dict, list)):
        return arguments
    if rendered.names:
        return _rename_properties(arguments, [schema], rendered)
    root = rendered.schema
    for _ in range(_MAX_DEPTH):
        if "$ref" in schema and len(schema) == 1:
            schema = resolve_pointer(root, schema["$ref"])
    if "anyOf" in schema and "properties" not in schema and "items" not in schema:
        for alternative in schema["anyOf"]:
            try:
                sent = encode_arguments(arguments, alternative, rendered)
            except UnsendableArgumentsError:
                continue
            parts = {**root.get("$defs", {}), "alone": alternative}
            whole = {**root, "$id": "urn:whole", "$defs": parts}
            part = {"$ref": "urn:whole#/$defs/alone", "$defs": {"whole": whole}}
            if is_allowed(part, sent):
                return sent
        raise UnsendableArgumentsError
    if isinstance(arguments, list):
        items, prefixes = schema.get("items"), schema.get("prefixItems", [])
        return [
            encode_arguments(
                alternative, prefixes[n] if n < len(prefixes) else items, rendered
            )
            for n, alternative in enumerate(arguments)
        ]
    absent = rendered.get_absent(schema)
    sent_arguments: dict[str, Any] = dict.fromkeys(absent)
    for name, value in arguments.items():
        if value is None and name in absent:
            raise UnsendableArgumentsError
        sent_arguments[name] = encode_arguments(
            value, schema.get("properties", {}).get(name), rendered
        )
    return sent_arguments


def _rename_properties(value: Any, schemas: list[Any], rendered: RenderedSchema) -> Any:
    """Return a value with the property names of a format without null for absence."""
    pending, schemas_ = list(schemas), list[Any]()
    while pending:
        schema = pending.pop()
        if isinstance(schema, Mapping) and schema not in schemas_:
            schemas_.append(schema)
            for key in ("allOf", "anyOf", "oneOf"):
                pending += schema.get(key, ())
            for key in ("not", "if", "then", "else"):
                pending.append(schema.get(key))
            pending += schema.get("dependentSchemas", {}).values()
            if "$ref" in schema:
                pending.append(resolve_pointer(rendered.schema, schema["$ref"]))
    if isinstance(value, list):
        items_ = [
            i
            for schema in schemas_
            for i in [schema.get("items"), schema.get("contains")]
        ]
        prefixes = [schema.get("prefixItems", []) for schema in schemas_]
        return [
            _rename_properties(
                item, items_ + [p[n] for p in prefixes if n < len(p)], rendered
            )
            for n, item in enumerate(value)
        ]
    if not isinstance(value, dict):
        return value
    text = json.dumps(
        [
            {k: v for k, v in schema.items() if k not in ("default", "examples")}
            for schema in schemas_
        ]
    )
    renamed = {}
    for old, member in value.items():
        new = rendered.names.get(old, old)
        name = new if json.dumps(new) in text else old
        member_schemas = [schema.get("properties", {}).get(name) for schema in schemas_]
        member_schemas += [schema.get("additionalProperties") for schema in schemas_]
        for schema in schemas_:
            member_schemas += schema.get("patternProperties", {}).values()
        renamed[name] = _rename_properties(member, member_schemas, rendered)
    return renamed
