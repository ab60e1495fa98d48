"""Values that one schema takes and another refuses, found by chance.

Nothing here is of the code that is tested: values are made another way, and another
validator decides (`jsonschema`, in Python).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs

__all__ = ["accepts", "difference"]

_INNER = ("allOf", "anyOf", "oneOf")


def difference(
    random: Random, sender: Any, receiver: Any, *, is_call: bool, tries: int
) -> Any:
    """A value that is sent and refused, as a list of one; an empty list for none."""
    quick = jsonschema_rs.validator_for(sender), jsonschema_rs.validator_for(receiver)
    pool = list(_pool(sender)) + list(_pool(receiver))
    for number in range(tries):
        schema = receiver if number % 5 == 4 else sender
        value = _value(random, schema, schema, pool, 4)
        if is_call and not isinstance(value, dict):
            continue
        if not quick[0].is_valid(value):
            continue
        if quick[1].is_valid(value) and not (is_call and _undeclared(receiver, value)):
            continue
        if not accepts(sender, value, is_call=is_call, is_sent=True):
            continue
        if not accepts(receiver, value, is_call=is_call, is_sent=False):
            return [value]
    return []


def accepts(schema: Any, value: Any, *, is_call: bool, is_sent: bool) -> bool:
    """Whether a schema takes a value.

    Arguments have no names at the top that the schema does not declare: the runtime refuses
    them. Whoever sends a value keeps to the declared names wherever properties are listed
    and nothing is said of others.
    """
    kind = jsonschema.validators.validator_for(
        schema, default=jsonschema.Draft202012Validator
    )
    if not kind(schema).is_valid(value):
        return False
    if is_call and _undeclared(schema, value):
        return False
    return not is_sent or _told(schema, [schema], value)


def _undeclared(schema: Any, value: dict[str, Any]) -> list[str]:
    names, patterns = set(), set()
    for part in _same_value(schema, [schema]):
        names |= set(part.get("properties", {}))
        patterns |= set(part.get("patternProperties", {}))
    return [
        name
        for name in value
        if name not in names and not any(re.search(p, name) for p in patterns)
    ]


def _told(root: Any, schemas: list[Any], value: Any) -> bool:
    """Whether each name in a value stands in a schema, where it lists any and no more."""
    said = _same_value(root, schemas)
    if isinstance(value, list):
        return all(
            _told(root, [s for part in said for s in _of_items(part)], item)
            for item in value
        )
    if not isinstance(value, dict):
        return True
    is_open = any(
        part.get(word, False) is not False
        for part in said
        for word in ("additionalProperties", "unevaluatedProperties")
    )
    is_listed = any(part.get("properties") for part in said)
    for name, inner in value.items():
        under = [p["properties"][name] for p in said if name in p.get("properties", {})]
        for part in said:
            for pattern, schema in part.get("patternProperties", {}).items():
                if re.search(pattern, name):
                    under.append(schema)
        if not under and is_listed and not is_open:
            return False
        others = [p.get("additionalProperties", True) for p in said]
        if not _told(root, under or others, inner):
            return False
    return True


def _of_items(part: Any) -> list[Any]:
    found: list[Any] = []
    for word in ("items", "prefixItems", "additionalItems", "contains"):
        value = part.get(word, [])
        found += value if isinstance(value, list) else [value]
    return found


def _same_value(root: Any, schemas: list[Any]) -> list[Any]:
    found: list[Any] = []
    waiting = list(schemas)
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict) or any(part is one for one in found):
            continue
        found.append(part)
        if "$ref" in part:
            waiting.append(_target(root, part["$ref"]))
            if "$schema" in root:
                continue
        for word in _INNER:
            waiting += part.get(word, [])
        waiting += [part[word] for word in ("if", "then", "else") if word in part]
        for word in ("dependentSchemas", "dependencies"):
            waiting += part.get(word, {}).values()
    return found


def _target(root: Any, reference: str) -> Any:
    for step in reference.split("/")[1:]:
        root = root[step]
    return root


def _pool(schema: Any) -> Iterator[Any]:
    """Values that schemas name, and some near them."""
    if isinstance(schema, list):
        for inner in schema:
            yield from _pool(inner)
    elif isinstance(schema, dict):
        for word, value in schema.items():
            if word == "enum":
                yield from value
            elif word == "const":
                yield value
            elif isinstance(value, (int, float)) and not isinstance(value, bool):
                if word.endswith(("Length",)):
                    yield from ("x" * max(0, int(value) + step) for step in (-1, 0, 1))
                elif "mum" in word or word == "multipleOf":
                    yield from (value, value + 1, value - 1, value + 0.5, value * 2)
            elif isinstance(value, (dict, list)):
                yield from _pool(value)


def _value(random: Random, schema: Any, root: Any, pool: list[Any], depth: int) -> Any:
    """Something that the schema may have meant."""
    if not isinstance(schema, dict) or random.random() < 0.08 or depth == 0:
        return _plain(random, pool)
    if "$ref" in schema:
        return _value(random, _target(root, schema["$ref"]), root, pool, depth - 1)
    said = dict(schema)
    for word in ("allOf", "anyOf", "oneOf"):
        if schema.get(word):
            chosen = schema[word] if word == "allOf" else [random.choice(schema[word])]
            for one in chosen:
                said = _joined(said, one)
    for word in ("if", "then", "else"):
        if word in schema and random.random() < 0.5:
            said = _joined(said, schema[word])
    if said.get("$ref"):
        return _value(random, _target(root, said["$ref"]), root, pool, depth - 1)
    if "const" in said and random.random() < 0.9:
        return said["const"]
    if said.get("enum") and random.random() < 0.9:
        return random.choice(said["enum"])
    kinds = said.get("type", ["object"] if "properties" in said else None)
    if kinds is None:
        if "items" in said or "prefixItems" in said or "contains" in said:
            kinds = ["array"]
        else:
            return _plain(random, pool)
    kind = kinds if isinstance(kinds, str) else random.choice(kinds)
    if kind == "object":
        return _object(random, said, root, pool, depth)
    if kind == "array":
        return _array(random, said, root, pool, depth)
    fitting = [one for one in pool if _is_a(one, kind)]
    if fitting and random.random() < 0.6:
        return random.choice(fitting)
    if kind == "string":
        return random.choice(
            ("", "x", "xy", "xyz", "red", "green", "x1", "7", "A", "x12")
        )
    if kind == "integer":
        return random.randrange(-4, 14)
    if kind == "number":
        return random.randrange(-4, 14) + random.choice((0, 0, 0.5, 0.25))
    return {"boolean": random.choice((True, False)), "null": None}[kind]


def _joined(said: dict[str, Any], other: Any) -> dict[str, Any]:
    if not isinstance(other, dict):
        return said
    properties = {**other.get("properties", {}), **said.get("properties", {})}
    required = [*said.get("required", []), *other.get("required", [])]
    joined = {**said, **other}
    if properties:
        joined["properties"] = properties
    if required:
        joined["required"] = required
    return joined


def _is_a(value: Any, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "null":
        return value is None
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and (kind == "number" or float(value).is_integer())


def _plain(random: Random, pool: list[Any]) -> Any:
    own = [
        None,
        True,
        False,
        0,
        1,
        -1,
        1.5,
        "",
        "x",
        "red",
        "x1",
        [],
        {},
        [1],
        {"a": 1},
    ]
    return random.choice(own + pool)


def _object(
    random: Random, said: dict[str, Any], root: Any, pool: list[Any], depth: int
) -> Any:
    properties = said.get("properties", {})
    chance = random.choice((0.2, 0.5, 0.9))
    made = {}
    for name in properties:
        if name in said.get("required", ()) or random.random() < chance:
            made[name] = _value(random, properties[name], root, pool, depth - 1)
    if random.random() < 0.25:
        name = random.choice(("a", "b", "c", "mode", "x", "d", "renamed"))
        others = said.get("additionalProperties", True)
        made.setdefault(name, _value(random, others, root, pool, depth - 1))
    for asked in said.get("dependentRequired", said.get("dependencies", {})).values():
        if isinstance(asked, list) and random.random() < 0.5:
            for name in asked:
                inner = properties.get(name, True)
                made.setdefault(name, _value(random, inner, root, pool, depth - 1))
    return made


def _array(
    random: Random, said: dict[str, Any], root: Any, pool: list[Any], depth: int
) -> Any:
    items = said.get("items", True)
    first = items if isinstance(items, list) else said.get("prefixItems", [])
    rest = said.get("additionalItems", True) if isinstance(items, list) else items
    count = random.randrange(5)
    made = [
        _value(random, first[i] if i < len(first) else rest, root, pool, depth - 1)
        for i in range(count)
    ]
    if "contains" in said and made and random.random() < 0.7:
        index = random.randrange(len(made))
        made[index] = _value(random, said["contains"], root, pool, depth - 1)
    if len(made) > 1 and random.random() < 0.2:
        made[-1] = made[0]
    return made
