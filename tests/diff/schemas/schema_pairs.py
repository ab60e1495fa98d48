"""Made-up pairs of schemas: one that is changed a little, and two that know nothing of each other."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

__all__ = ["changed", "independent", "parts"]

NAMES = ("a", "b", "c", "mode")
WORDS = ("", "x", "xy", "red", "green", "x1", "7")
PATTERNS = ("^x", "^[a-z]+$", "\\d", "^.{2,3}$", "^(red|green)$")
DRAFTS = (None, None, None, "http://json-schema.org/draft-07/schema#")
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")


def independent(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two schemas of objects."""
    draft = random.choice(DRAFTS)
    return root(random, draft), root(random, draft)


def changed(random: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """A schema, and the same with one to three changes."""
    before = root(random, random.choice(DRAFTS))
    after = copy.deepcopy(before)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        after = mutated(random, after)
    if random.random() < 0.5:
        return after, before
    return before, after


def root(random: Random, draft: str | None) -> dict[str, Any]:
    """A schema of an object."""
    is_old = draft is not None
    schema = {"type": "object", **object_words(random, 2, is_old)}
    if random.random() < 0.25:
        schema = {**schema, **combined(random, 2, is_old, in_object=True)}
    if random.random() < 0.3:
        word = "definitions" if is_old else "$defs"
        schema[word] = {"d": any_schema(random, 1, is_old)}
        for name in list(schema.get("properties", {})):
            if random.random() < 0.5:
                schema["properties"][name] = {"$ref": f"#/{word}/d"}
    return {"$schema": draft, **schema} if draft else schema


def any_schema(random: Random, depth: int, is_old: bool) -> Any:
    """A schema of any value."""
    if random.random() < 0.04:
        return random.choice((True, False, {}))
    if random.random() < 0.12 and depth:
        return combined(random, depth, is_old)
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
    return {**schema, **words_of(random, kind, depth, is_old)}


def words_of(random: Random, kind: str, depth: int, is_old: bool) -> dict[str, Any]:
    """Keywords for values of a type."""
    if kind in ("integer", "number"):
        return number_words(random)
    if kind == "string":
        return text_words(random)
    if kind == "array":
        return array_words(random, depth - 1, is_old)
    if kind == "object":
        return object_words(random, depth - 1, is_old)
    return {}


def some(random: Random, chance: float, **words: Any) -> dict[str, Any]:
    """Each keyword with a chance; its value is made by a function."""
    return {
        word.rstrip("_"): make()
        for word, make in words.items()
        if random.random() < chance
    }


def number_words(random: Random) -> dict[str, Any]:
    """Keywords for numbers."""

    def number() -> Any:
        return random.choice((0, 1, 2, 5, 10, -3, 2.5, 0.5))

    return some(
        random,
        0.25,
        minimum=number,
        maximum=number,
        exclusiveMinimum=number,
        exclusiveMaximum=number,
        multipleOf=lambda: random.choice((1, 2, 3, 4, 0.5)),
    )


def text_words(random: Random) -> dict[str, Any]:
    """Keywords for texts."""
    return some(
        random,
        0.25,
        minLength=lambda: random.randrange(4),
        maxLength=lambda: random.randrange(1, 5),
        pattern=lambda: random.choice(PATTERNS),
        format=lambda: random.choice(("date", "uri")),
    )


def array_words(random: Random, depth: int, is_old: bool) -> dict[str, Any]:
    """Keywords for arrays."""

    def inner() -> Any:
        return any_schema(random, max(depth, 0), is_old)

    words = some(
        random,
        0.25,
        items=inner,
        minItems=lambda: random.randrange(3),
        maxItems=lambda: random.randrange(1, 4),
        uniqueItems=lambda: random.choice((True, False)),
        contains=inner,
    )
    if random.random() < 0.25:
        first = [inner() for _ in range(random.randrange(1, 3))]
        if is_old:
            words["items"] = first
            words |= some(random, 0.5, additionalItems=inner)
        else:
            words["prefixItems"] = first
    if "contains" in words and not is_old:
        words |= some(
            random,
            0.3,
            minContains=lambda: random.randrange(3),
            maxContains=lambda: random.randrange(1, 3),
        )
    return words


def object_words(random: Random, depth: int, is_old: bool) -> dict[str, Any]:
    """Keywords for objects."""

    def inner() -> Any:
        return any_schema(random, max(depth, 0), is_old)

    names = random.sample(NAMES, random.randrange(0, 4))
    words: dict[str, Any] = {"properties": {name: inner() for name in names}}
    if random.random() < 0.5 and names:
        words["required"] = random.sample(names, random.randrange(1, len(names) + 1))
    if random.random() < 0.35:
        words["additionalProperties"] = random.choice((False, False, True, None))
        if words["additionalProperties"] is None:
            words["additionalProperties"] = inner()
    words |= some(
        random,
        0.07,
        patternProperties=lambda: {random.choice(("^a", "^x", "d")): inner()},
        propertyNames=lambda: random.choice(
            ({"pattern": "^[a-z]$"}, {"maxLength": 2}, {"enum": ["a", "b"]})
        ),
        minProperties=lambda: random.randrange(3),
        maxProperties=lambda: random.randrange(1, 4),
    )
    asked = {random.choice(NAMES): [random.choice(NAMES)]}
    brought = {random.choice(NAMES): {"required": [random.choice(NAMES)]}}
    if random.random() < 0.08:
        words["dependencies" if is_old else "dependentRequired"] = asked
    elif random.random() < 0.08:
        words["dependencies" if is_old else "dependentSchemas"] = brought
    if random.random() < 0.04 and not is_old:
        words["unevaluatedProperties"] = False
    return words


def combined(
    random: Random, depth: int, is_old: bool, in_object: bool = False
) -> dict[str, Any]:
    """Alternatives, conditions and refusals."""

    def inner() -> Any:
        if in_object:
            return {
                key: value
                for key, value in object_words(random, depth - 1, is_old).items()
                if key in ("properties", "required", "minProperties")
            }
        return any_schema(random, depth - 1, is_old)

    kind = random.choice(("anyOf", "anyOf", "oneOf", "allOf", "not", "if"))
    if kind == "not":
        return {"not": inner()}
    if kind == "if":
        return {"if": inner(), **some(random, 0.7, then=inner, else_=inner)}
    return {kind: [inner() for _ in range(random.randrange(1, 4))]}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema in a schema."""
    if not isinstance(schema, dict):
        return
    yield schema
    for word, value in schema.items():
        if word in (
            "properties",
            "patternProperties",
            "$defs",
            "definitions",
        ) or word in ("dependencies", "dependentSchemas"):
            for inner in value.values():
                yield from parts(inner)
        elif isinstance(value, list) and word not in ("enum", "required", "type"):
            for inner in value:
                yield from parts(inner)
        elif isinstance(value, dict) and word not in ("const", "dependentRequired"):
            yield from parts(value)


def mutated(random: Random, schema: dict[str, Any]) -> dict[str, Any]:
    """The same with one change somewhere."""
    is_old = "$schema" in schema
    part = random.choice(list(parts(schema)))
    kind = random.choice(
        ("drop", "value", "value", "word", "property", "required", "wrap")
    )
    words = [
        word for word in part if word not in ("$schema", "$defs", "definitions", "$ref")
    ]
    if kind == "drop" and words:
        word = random.choice(words)
        if part is not schema or word not in ("type", "properties"):
            del part[word]
    elif kind == "value" and words:
        change_value(random, part, random.choice(words), is_old)
    elif kind == "word":
        named = part.get("type", "object")
        kinds = named if isinstance(named, list) else [named]
        part.update(words_of(random, random.choice(kinds), 1, is_old))
    elif kind == "property" and isinstance(part.get("properties"), dict):
        change_properties(random, part["properties"], is_old)
    elif kind == "required" and isinstance(part.get("properties"), dict):
        names = list(part["properties"])
        part["required"] = random.sample(names, random.randrange(len(names) + 1))
    elif kind == "wrap" and part is not schema and "$ref" not in part:
        inner = dict(part)
        part.clear()
        word = random.choice(("anyOf", "allOf", "oneOf"))
        part[word] = [inner]
        if random.random() < 0.6:
            part[word].append(
                random.choice(({"type": "null"}, any_schema(random, 0, is_old)))
            )
    return schema


def change_value(random: Random, part: dict[str, Any], word: str, is_old: bool) -> None:
    """Gives a keyword another value of its kind."""
    value = part[word]
    if isinstance(value, bool):
        part[word] = not value
    elif isinstance(value, (int, float)):
        part[word] = max(0, value + random.choice((-1, 1, 2)))
        if word == "multipleOf":
            part[word] = random.choice((1, 2, 3, 6, 0.5))
    elif word == "pattern":
        part[word] = random.choice(PATTERNS)
    elif word == "enum":
        kept = value[1:] if random.random() < 0.5 and len(value) > 1 else value
        part[word] = kept + random.choice(([], ["new"], [9]))
    elif word == "type" and part.get("type") != "object":
        part[word] = random.choice(
            (*TYPES[:5], ["string", "null"], ["integer", "null"])
        )
    elif word in ("anyOf", "allOf", "oneOf"):
        if len(value) > 1 and random.random() < 0.5:
            value.pop()
        else:
            value.append(any_schema(random, 1, is_old))
    elif word in ("items", "additionalProperties", "contains", "not"):
        part[word] = any_schema(random, 1, is_old)


def change_properties(random: Random, properties: dict[str, Any], is_old: bool) -> None:
    """Adds, removes, renames or replaces a property."""
    name = random.choice(NAMES)
    if name not in properties:
        properties[name] = any_schema(random, 1, is_old)
    elif random.random() < 0.4:
        del properties[name]
    elif random.random() < 0.5:
        properties["renamed"] = properties.pop(name)
    else:
        properties[name] = any_schema(random, 1, is_old)
