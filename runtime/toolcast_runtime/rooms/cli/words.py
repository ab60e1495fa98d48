"""Words of a shell as JSON values, by the schemas of the parameters that they are given for.

Both command lines read words here: the options and places of a toolset's own commands, and the
`NAME=TEXT` of `toolcast call`. Whether a value is right is for the validation of the call alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, NoReturn

from ...core.definitions.tool import Tool
from ...core.regular_file import read_regular
from ...core.validation.references import References

_MOST_BYTES = 1 << 24
_MOST_REFERENCES = 20
_DEEPEST = 2
_MOST_NAMES = 500
_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


def problems_with(
    arguments: Mapping[str, Any],
    valid: Callable[[Mapping[str, Any]], Sequence[str]],
) -> list[str]:
    """What is wrong with the arguments of a command, before anything is called.

    Args:
        arguments: as the words give them.
        valid: what the validation of the call finds.
    """
    try:
        json.dumps(arguments, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return ["the words are not valid UTF-8"]
    return list(valid(arguments))


def likely(name: str, known: Iterable[str]) -> str | None:
    """What a name was probably meant for: the same in another spelling, or one like it."""
    spelt: dict[str, str] = {}
    for one in islice(known, _MOST_NAMES):
        spelt.setdefault(_spelt(one), one)
    near = get_close_matches(_spelt(name[:128]), spelt, 1)
    return spelt[near[0]] if near else None


def _spelt(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


# -- by a schema


def to_value(schema: Any, text: str) -> Any:
    """A word as the JSON value that its schema asks for; as text when it is none.

    Raises:
        ValueError: it can only be an object or a list, and is no JSON.
    """
    types = {*types_of(schema)}
    if "string" in types and not types & {"object", "array"}:
        return text
    if types and types <= {"object", "array"}:
        return json_value(text)
    try:
        value = json_value(text)
    except ValueError:
        return text
    is_text = "string" in types and not isinstance(value, dict | list)
    return text if is_text or (value is None and text != "null") else value


def list_value(schema: Any, words: Sequence[str]) -> list[Any]:
    """Words as a list: each an item, or one that is the whole list in JSON.

    Raises:
        ValueError: one has to be JSON and is not.
    """
    items = schema.get("items")
    if len(words) == 1 and {*types_of(items)} != {"string"}:
        [word] = words
        if _is_elsewhere(word) or word.lstrip()[:1] == "[":
            whole = json_value(word)
            return whole if isinstance(whole, list) else [whole]
    return [to_value(items, word) for word in words]


def takes_list(schema: Any) -> bool:
    """Whether a parameter is a list and nothing else."""
    return isinstance(schema, Mapping) and schema.get("type") == "array"


def types_of(schema: Any) -> tuple[str, ...]:
    """The types that a schema names, in its order; none where it takes any value."""
    if not isinstance(schema, Mapping):
        return ()
    named = schema.get("type")
    found = [*named] if isinstance(named, list) else [named]
    values = [*_listed(schema, "enum"), schema.get("const")]
    found += ["string" for value in values if isinstance(value, str)]
    for member in members(schema):
        found += types_of(member)
    return tuple(dict.fromkeys(one for one in found if one in _TYPES))


def choices(schema: Any) -> list[str]:
    """The words of the only values that a schema takes; none where there are others."""
    return [typed(one) for one in _listed(schema, "enum")]


def typed(value: Any) -> str:
    """A value as one word."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def members(schema: Any) -> list[Any]:
    """What a value may be, where a schema names several: a list, or null, say."""
    return [*_listed(schema, "anyOf"), *_listed(schema, "oneOf")]


def _listed(schema: Any, keyword: str) -> list[Any]:
    listed = schema.get(keyword) if isinstance(schema, Mapping) else None
    return listed if isinstance(listed, list) else []


def properties_of(tool: Tool) -> dict[str, Any]:
    """The schema of each parameter of a tool, as far as it decides how a word is read.

    What its references name stands in their place.
    """
    references = References(tool.parameters)
    properties = tool.parameters.get("properties", {})
    return {name: _plain(references, properties[name], 0) for name in properties}


def _plain(references: References, schema: Any, depth: int) -> Any:
    """A schema without references down to a depth.

    What stands beside a reference wins over what it names: a description of its own, say.
    One that leads nowhere or round in a circle is left as it is.
    """
    for _ in range(_MOST_REFERENCES):
        if not isinstance(schema, Mapping):
            return schema
        only = schema.get("allOf")
        if isinstance(schema.get("$ref"), str):
            try:
                named = references.target(schema["$ref"])
            except LookupError:
                return schema
            beside = "$ref"
        elif isinstance(only, list) and len(only) == 1:
            named, beside = only[0], "allOf"
        else:
            break
        if not isinstance(named, Mapping):
            return schema
        schema = {**named, **{key: schema[key] for key in schema if key != beside}}
    if depth == _DEEPEST:
        return schema
    plain = dict(schema)
    if "items" in plain:
        plain["items"] = _plain(references, plain["items"], depth + 1)
    for keyword in ("anyOf", "oneOf"):
        listed = plain.get(keyword)
        if isinstance(listed, list):
            plain[keyword] = [_plain(references, one, depth + 1) for one in listed]
    return plain


# -- JSON, in a word or elsewhere


def json_object(text: str | None) -> dict[str, Any]:
    """The arguments that one JSON text gives; without a text there are none.

    Raises:
        ValueError: it is no JSON object, or cannot be read.
    """
    value = {} if text is None else json_value(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def json_value(text: str) -> Any:
    """The value of a JSON text; `-` is the text on standard input, `@FILE` that of a file.

    Raises:
        ValueError: it is none, is nested without end, or cannot be read.
    """
    if _is_elsewhere(text):
        text = _read(text)
    try:
        return json.loads(text, parse_constant=_not_json)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(f"not JSON: {error.msg} ({place})") from None
    except RecursionError:
        raise ValueError("not JSON: it is nested too deeply") from None


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: {constant} is no JSON number")


def _is_elsewhere(text: str) -> bool:
    # Neither can begin a JSON text.
    return text == "-" or text.startswith("@")


def _read(text: str) -> str:
    name = "standard input" if text == "-" else text[1:]
    try:
        if text == "-":
            # It stays open: somebody may want to ask for more.
            with os.fdopen(0, "rb", closefd=False) as stream:
                data = stream.read(_MOST_BYTES + 1)
        else:
            data = read_regular(name, _MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ValueError(f"{name} is longer than {_MOST_BYTES} bytes")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8") from None
