"""Random pairs of schemas: a schema with changes, or two independent schemas."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

NAMES = ("a", "b", "c", "mode")
WORDS = ("", "x", "xy", "red", "green", "x1", "7")
PATTERNS = ("^x", "^[a-z]+$", "\\d", "^.{2,3}$", "^(red|green)$")
DRAFTS = (None, None, None, "http://json-schema.org/draft-07/schema#")
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
_KEYED_KEYWORDS = {
    *"properties patternProperties $defs definitions dependencies dependentSchemas".split()
}


def build_independent_pair(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return two random schemas of objects."""
    draft = random.choice(DRAFTS)
    return build_object_schema(random, draft), build_object_schema(random, draft)


def build_changed_pair(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a random schema, and the same schema with one to three changes."""
    before = build_object_schema(random, random.choice(DRAFTS))
    after = copy.deepcopy(before)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        after = change_schema(random, after)
    if random.random() < 0.5:
        return after, before
    return before, after


def build_object_schema(random: Random, draft: str | None) -> dict[str, Any]:
    """Return a random schema of an object."""
    is_old = draft is not None
    schema = {"type": "object", **build_object_keywords(random, 2, is_old)}
    if random.random() < 0.25:
        schema = {**schema, **build_combinator(random, 2, is_old, in_object=True)}
    if random.random() < 0.3:
        keyword = "definitions" if is_old else "$defs"
        schema[keyword] = {"d": build_schema(random, 1, is_old)}
        for name in list(schema.get("properties", {})):
            if random.random() < 0.5:
                schema["properties"][name] = {"$ref": f"#/{keyword}/d"}
    return {"$schema": draft, **schema} if draft else schema


def build_schema(random: Random, depth: int, is_old: bool) -> Any:
    """Return a random schema of any value."""
    if random.random() < 0.04:
        return random.choice((True, False, {}))
    if random.random() < 0.12 and depth:
        return build_combinator(random, depth, is_old)
    if random.random() < 0.15:
        return random.choice(
            (
                {"enum": random.sample(["red", "green", 1, 2, None, True], 3)},
                {"const": random.choice(("red", 1, None))},
                {"type": "string", "enum": random.sample(WORDS, 3)},
                {"type": "integer", "enum": random.sample(range(5), 2)},
            )
        )
    kind = random.choice(TYPES if depth else TYPES[:5])
    schema: dict[str, Any] = {"type": kind}
    if random.random() < 0.1:
        schema = {"type": random.sample(TYPES[:5], 2)}
        kind = schema["type"][0]
    if random.random() < 0.06:
        schema = {}
    return {**schema, **build_keywords(random, kind, depth, is_old)}


def build_keywords(
    random: Random, kind: str, depth: int, is_old: bool
) -> dict[str, Any]:
    """Return random keywords for values of a type."""
    if kind in ("integer", "number"):
        return build_number_keywords(random)
    if kind == "string":
        return build_string_keywords(random)
    if kind == "array":
        return build_array_keywords(random, depth - 1, is_old)
    if kind == "object":
        return build_object_keywords(random, depth - 1, is_old)
    return {}


def pick_some(random: Random, chance: float, **builders: Any) -> dict[str, Any]:
    """Return each keyword with a probability; its value is returned by a function."""
    return {
        keyword.rstrip("_"): build_value()
        for keyword, build_value in builders.items()
        if random.random() < chance
    }


def build_number_keywords(random: Random) -> dict[str, Any]:
    """Return random keywords for numbers."""

    def number() -> Any:
        return random.choice((0, 1, 2, 5, 10, -3, 2.5, 0.5))

    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    return pick_some(
        random,
        0.25,
        **dict.fromkeys(bounds, number),
        multipleOf=lambda: random.choice((1, 2, 3, 4, 0.5)),
    )


def build_string_keywords(random: Random) -> dict[str, Any]:
    """Return random keywords for strings."""
    return pick_some(
        random,
        0.25,
        minLength=lambda: random.randrange(4),
        maxLength=lambda: random.randrange(1, 5),
        pattern=lambda: random.choice(PATTERNS),
        format=lambda: random.choice(("date", "uri")),
    )


def build_array_keywords(random: Random, depth: int, is_old: bool) -> dict[str, Any]:
    """Return random keywords for arrays."""

    def build_subschema() -> Any:
        return build_schema(random, max(depth, 0), is_old)

    keywords = pick_some(
        random,
        0.25,
        items=build_subschema,
        minItems=lambda: random.randrange(3),
        maxItems=lambda: random.randrange(1, 4),
        uniqueItems=lambda: random.choice((True, False)),
        contains=build_subschema,
    )
    if random.random() < 0.25:
        first = [build_subschema() for _ in range(random.randrange(1, 3))]
        if is_old:
            keywords["items"] = first
            keywords |= pick_some(random, 0.5, additionalItems=build_subschema)
        else:
            keywords["prefixItems"] = first
    if "contains" in keywords and not is_old:
        keywords |= pick_some(
            random,
            0.3,
            minContains=lambda: random.randrange(3),
            maxContains=lambda: random.randrange(1, 3),
        )
    return keywords


def build_object_keywords(random: Random, depth: int, is_old: bool) -> dict[str, Any]:
    """Return random keywords for objects."""

    def build_subschema() -> Any:
        return build_schema(random, max(depth, 0), is_old)

    names = random.sample(NAMES, random.randrange(0, 4))
    keywords: dict[str, Any] = {"properties": {n: build_subschema() for n in names}}
    if random.random() < 0.5 and names:
        keywords["required"] = random.sample(names, random.randrange(1, len(names) + 1))
    if random.random() < 0.35:
        keywords["additionalProperties"] = random.choice((False, False, True, None))
        if keywords["additionalProperties"] is None:
            keywords["additionalProperties"] = build_subschema()
    keywords |= pick_some(
        random,
        0.07,
        patternProperties=lambda: {random.choice(("^a", "^x", "d")): build_subschema()},
        propertyNames=lambda: random.choice(
            ({"pattern": "^[a-z]$"}, {"maxLength": 2}, {"enum": ["a", "b"]})
        ),
        minProperties=lambda: random.randrange(3),
        maxProperties=lambda: random.randrange(1, 4),
    )
    required_names = {random.choice(NAMES): [random.choice(NAMES)]}
    required_schema = {random.choice(NAMES): {"required": [random.choice(NAMES)]}}
    if random.random() < 0.08:
        keywords["dependencies" if is_old else "dependentRequired"] = required_names
    elif random.random() < 0.08:
        keywords["dependencies" if is_old else "dependentSchemas"] = required_schema
    if random.random() < 0.04 and not is_old:
        keywords["unevaluatedProperties"] = False
    return keywords


def build_combinator(
    random: Random, depth: int, is_old: bool, in_object: bool = False
) -> dict[str, Any]:
    """Return alternatives, a condition or a `not`."""

    def build_subschema() -> Any:
        if not in_object:
            return build_schema(random, depth - 1, is_old)
        keywords = build_object_keywords(random, depth - 1, is_old)
        kept = ("properties", "required", "minProperties")
        return {key: value for key, value in keywords.items() if key in kept}

    kind = random.choice(("anyOf", "anyOf", "oneOf", "allOf", "not", "if"))
    if kind == "not":
        return {"not": build_subschema()}
    if kind == "if":
        return {
            "if": build_subschema(),
            **pick_some(random, 0.7, then=build_subschema, else_=build_subschema),
        }
    return {kind: [build_subschema() for _ in range(random.randrange(1, 4))]}


def walk_schemas(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all of its subschemas."""
    if not isinstance(schema, dict):
        return
    yield schema
    for keyword, value in schema.items():
        if keyword in _KEYED_KEYWORDS:
            for subschema in value.values():
                yield from walk_schemas(subschema)
        elif isinstance(value, list) and keyword not in ("enum", "required", "type"):
            for subschema in value:
                yield from walk_schemas(subschema)
        elif isinstance(value, dict) and keyword not in ("const", "dependentRequired"):
            yield from walk_schemas(value)


def change_schema(random: Random, schema: dict[str, Any]) -> dict[str, Any]:
    """Change a schema in one random location, and return it."""
    is_old = "$schema" in schema
    part = random.choice(list(walk_schemas(schema)))
    kinds = ["drop", "value", "value", "keyword", "property", "required", "wrap"]
    kind = random.choice(kinds)
    fixed = ("$schema", "$defs", "definitions", "$ref")
    keywords = [keyword for keyword in part if keyword not in fixed]
    if kind == "drop" and keywords:
        keyword = random.choice(keywords)
        if part is not schema or keyword not in ("type", "properties"):
            del part[keyword]
    elif kind == "value" and keywords:
        change_value(random, part, random.choice(keywords), is_old)
    elif kind == "keyword":
        named = part.get("type", "object")
        kinds = named if isinstance(named, list) else [named]
        part.update(build_keywords(random, random.choice(kinds), 1, is_old))
    elif kind == "property" and isinstance(part.get("properties"), dict):
        change_properties(random, part["properties"], is_old)
    elif kind == "required" and isinstance(part.get("properties"), dict):
        names = list(part["properties"])
        part["required"] = random.sample(names, random.randrange(len(names) + 1))
    elif kind == "wrap" and part is not schema and "$ref" not in part:
        subschema = dict(part)
        part.clear()
        keyword = random.choice(("anyOf", "allOf", "oneOf"))
        part[keyword] = [subschema]
        if random.random() < 0.6:
            other = build_schema(random, 0, is_old)
            part[keyword].append(random.choice(({"type": "null"}, other)))
    return schema


def change_value(
    random: Random, part: dict[str, Any], keyword: str, is_old: bool
) -> None:
    """Change the value of a keyword."""
    value = part[keyword]
    if isinstance(value, bool):
        part[keyword] = not value
    elif isinstance(value, (int, float)):
        part[keyword] = max(0, value + random.choice((-1, 1, 2)))
        if keyword == "multipleOf":
            part[keyword] = random.choice((1, 2, 3, 6, 0.5))
    elif keyword == "pattern":
        part[keyword] = random.choice(PATTERNS)
    elif keyword == "enum":
        kept = value[1:] if random.random() < 0.5 and len(value) > 1 else value
        part[keyword] = kept + random.choice(([], ["new"], [9]))
    elif keyword == "type" and part.get("type") != "object":
        unions = (["string", "null"], ["integer", "null"])
        part[keyword] = random.choice((*TYPES[:5], *unions))
    elif keyword in ("anyOf", "allOf", "oneOf"):
        if len(value) > 1 and random.random() < 0.5:
            value.pop()
        else:
            value.append(build_schema(random, 1, is_old))
    elif keyword in ("items", "additionalProperties", "contains", "not"):
        part[keyword] = build_schema(random, 1, is_old)


def change_properties(random: Random, properties: dict[str, Any], is_old: bool) -> None:
    """Add, remove, rename or replace a property."""
    name = random.choice(NAMES)
    if name in properties and random.random() < 0.4:
        del properties[name]
    elif name in properties and random.random() < 0.5:
        properties["renamed"] = properties.pop(name)
    else:
        properties[name] = build_schema(random, 1, is_old)
