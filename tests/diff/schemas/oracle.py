"""Random search for values that one schema accepts and another one rejects.

It shares no code with the tested comparison: it builds values differently, and validates
them with `jsonschema`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs

_BRANCH_KEYWORDS = ("allOf", "anyOf", "oneOf")


def find_rejected_value(
    random: Random, sender: Any, receiver: Any, *, is_call: bool, tries: int
) -> Any:
    """Return a list of one value that the sender sends and the receiver rejects, or of none.

    `is_call` states whether the values are arguments, `tries` how many are tried.
    """
    # The fast validators exclude most values before the slow one is used.
    fast = jsonschema_rs.validator_for(sender), jsonschema_rs.validator_for(receiver)
    pool = list(_list_schema_values(sender)) + list(_list_schema_values(receiver))
    for number in range(tries):
        schema = receiver if number % 5 == 4 else sender
        value = _build_value(random, schema, schema, pool, 4)
        if (is_call and not isinstance(value, dict)) or not fast[0].is_valid(value):
            continue
        has_undeclared_names = is_call and _list_undeclared_names(receiver, value)
        if (
            (has_undeclared_names or not fast[1].is_valid(value))
            and is_accepted(sender, value, is_call=is_call, is_sent=True)
            and not is_accepted(receiver, value, is_call=is_call, is_sent=False)
        ):
            return [value]
    return []


def is_accepted(schema: Any, value: Any, *, is_call: bool, is_sent: bool) -> bool:
    """Return whether a schema accepts a value.

    For arguments, the runtime rejects names at the top level that the schema does not declare.
    Senders use only declared names if a schema lists properties and does not mention
    others.
    """
    validator_class = jsonschema.validators.validator_for(
        schema, default=jsonschema.Draft202012Validator
    )
    if not validator_class(schema).is_valid(value):
        return False
    if is_call and _list_undeclared_names(schema, value):
        return False
    return not is_sent or _has_only_declared_names(schema, [schema], value)


def _list_undeclared_names(schema: Any, value: dict[str, Any]) -> list[str]:
    names, patterns = set(), set()
    for part in _collect_schemas(schema, [schema]):
        names |= set(part.get("properties", {}))
        patterns |= set(part.get("patternProperties", {}))
    others = [name for name in value if name not in names]
    return [n for n in others if not any(re.search(p, n) for p in patterns)]


def _has_only_declared_names(root: Any, schemas: list[Any], value: Any) -> bool:
    """Return whether all names in a value are declared by schemas that list properties."""
    parts = _collect_schemas(root, schemas)
    if isinstance(value, list):
        items = [schema for part in parts for schema in _list_item_schemas(part)]
        return all(_has_only_declared_names(root, items, item) for item in value)
    if not isinstance(value, dict):
        return True
    is_open = any(
        part.get(keyword, False) is not False
        for part in parts
        for keyword in ("additionalProperties", "unevaluatedProperties")
    )
    is_listed = any(part.get("properties") for part in parts)
    for name, inner in value.items():
        listed = [part.get("properties", {}) for part in parts]
        property_schemas = [schemas[name] for schemas in listed if name in schemas]
        for part in parts:
            patterns = part.get("patternProperties", {}).items()
            property_schemas += [s for regex, s in patterns if re.search(regex, name)]
        if not property_schemas and is_listed and not is_open:
            return False
        others = [p.get("additionalProperties", True) for p in parts]
        if not _has_only_declared_names(root, property_schemas or others, inner):
            return False
    return True


def _list_item_schemas(part: Any) -> list[Any]:
    found: list[Any] = []
    for keyword in ("items", "prefixItems", "additionalItems", "contains"):
        value = part.get(keyword, [])
        found += value if isinstance(value, list) else [value]
    return found


def _collect_schemas(root: Any, schemas: list[Any]) -> list[Any]:
    found: list[Any] = []
    pending = list(schemas)
    while pending:
        part = pending.pop()
        if not isinstance(part, dict) or any(part is known for known in found):
            continue
        found.append(part)
        if "$ref" in part:
            pending.append(_resolve(root, part["$ref"]))
            if "$schema" in root:
                continue
        for keyword in _BRANCH_KEYWORDS:
            pending += part.get(keyword, [])
        pending += [part[key] for key in ("if", "then", "else") if key in part]
        for keyword in ("dependentSchemas", "dependencies"):
            pending += part.get(keyword, {}).values()
    return found


def _resolve(root: Any, reference: str) -> Any:
    for step in reference.split("/")[1:]:
        root = root[step]
    return root


def _list_schema_values(schema: Any) -> Iterator[Any]:
    """Yield enum values and limits of a schema, and values near the limits."""
    if isinstance(schema, list):
        for inner in schema:
            yield from _list_schema_values(inner)
    elif isinstance(schema, dict):
        for keyword, value in schema.items():
            if keyword == "enum":
                yield from value
            elif keyword == "const":
                yield value
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                if keyword.endswith("Length"):
                    yield from ("x" * max(0, int(value) + step) for step in (-1, 0, 1))
                elif "mum" in keyword or keyword == "multipleOf":
                    yield from (value, value + 1, value - 1, value + 0.5, value * 2)
            elif isinstance(value, (dict, list)):
                yield from _list_schema_values(value)


def _build_value(
    random: Random, schema: Any, root: Any, pool: list[Any], depth: int
) -> Any:
    """Return a random value that is likely to be valid for a schema."""
    if not isinstance(schema, dict) or random.random() < 0.08 or depth == 0:
        return _pick_simple_value(random, pool)
    if "$ref" in schema:
        target = _resolve(root, schema["$ref"])
        return _build_value(random, target, root, pool, depth - 1)
    merged = dict(schema)
    for keyword in _BRANCH_KEYWORDS:
        if branches := schema.get(keyword):
            for branch in branches if keyword == "allOf" else [random.choice(branches)]:
                merged = _merge(merged, branch)
    for keyword in ("if", "then", "else"):
        if keyword in schema and random.random() < 0.5:
            merged = _merge(merged, schema[keyword])
    if merged.get("$ref"):
        target = _resolve(root, merged["$ref"])
        return _build_value(random, target, root, pool, depth - 1)
    if "const" in merged and random.random() < 0.9:
        return merged["const"]
    if merged.get("enum") and random.random() < 0.9:
        return random.choice(merged["enum"])
    kinds = merged.get("type", ["object"] if "properties" in merged else None)
    if kinds is None:
        if not merged.keys() & {"items", "prefixItems", "contains"}:
            return _pick_simple_value(random, pool)
        kinds = ["array"]
    kind = kinds if isinstance(kinds, str) else random.choice(kinds)
    if kind == "object":
        return _build_object(random, merged, root, pool, depth)
    if kind == "array":
        return _build_array(random, merged, root, pool, depth)
    candidates = [value for value in pool if _has_type(value, kind)]
    if candidates and random.random() < 0.6:
        return random.choice(candidates)
    if kind == "string":
        return random.choice(["", *"x xy xyz red green x1 7 A x12".split()])
    if kind == "integer":
        return random.randrange(-4, 14)
    if kind == "number":
        return random.randrange(-4, 14) + random.choice((0, 0, 0.5, 0.25))
    return {"boolean": random.choice((True, False)), "null": None}[kind]


def _merge(merged: dict[str, Any], other: Any) -> dict[str, Any]:
    if not isinstance(other, dict):
        return merged
    joined = {**merged, **other}
    if "properties" in joined:
        joined["properties"] = {
            **other.get("properties", {}),
            **merged.get("properties", {}),
        }
    if "required" in joined:
        joined["required"] = [*merged.get("required", []), *other.get("required", [])]
    return joined


def _has_type(value: Any, kind: str) -> bool:
    types = {"string": str, "boolean": bool, "null": type(None)}
    if kind in types:
        return isinstance(value, types[kind])
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and (kind == "number" or float(value).is_integer())


def _pick_simple_value(random: Random, pool: list[Any]) -> Any:
    own = [None, True, False, 0, 1, -1, 1.5, "", "x", "red", "x1", [], {}, [1]]
    return random.choice([*own, {"a": 1}, *pool])


def _build_object(
    random: Random, merged: dict[str, Any], root: Any, pool: list[Any], depth: int
) -> Any:
    properties = merged.get("properties", {})
    chance = random.choice((0.2, 0.5, 0.9))
    value = {}
    for name in properties:
        if name in merged.get("required", ()) or random.random() < chance:
            value[name] = _build_value(random, properties[name], root, pool, depth - 1)
    if random.random() < 0.25:
        name = random.choice(("a", "b", "c", "mode", "x", "d", "renamed"))
        others = merged.get("additionalProperties", True)
        value.setdefault(name, _build_value(random, others, root, pool, depth - 1))
    dependencies = merged.get("dependentRequired", merged.get("dependencies", {}))
    for names in dependencies.values():
        if isinstance(names, list) and random.random() < 0.5:
            for name in names:
                inner = properties.get(name, True)
                built = _build_value(random, inner, root, pool, depth - 1)
                value.setdefault(name, built)
    return value


def _build_array(
    random: Random, merged: dict[str, Any], root: Any, pool: list[Any], depth: int
) -> Any:
    items = merged.get("items", True)
    first = items if isinstance(items, list) else merged.get("prefixItems", [])
    rest = merged.get("additionalItems", True) if isinstance(items, list) else items
    count = random.randrange(5)
    schemas = [*first, *[rest] * count][:count]
    values = [_build_value(random, s, root, pool, depth - 1) for s in schemas]
    if "contains" in merged and values and random.random() < 0.7:
        index = random.randrange(len(values))
        values[index] = _build_value(random, merged["contains"], root, pool, depth - 1)
    if len(values) > 1 and random.random() < 0.2:
        values[-1] = values[0]
    return values
