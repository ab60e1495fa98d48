"""Words of a shell as JSON values, by the schemas of the parameters that they are given for.

Both command lines read words here: the options and places of a toolset's own commands, and the
`NAME=TEXT` of `toolcast call`. Whether a value is right is for the validation of the call alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, NoReturn

from ...core.calls.untrusted_text import escaped
from ...core.definitions.tool import Tool
from ...core.files.regular_file import read_regular
from ...core.validation.references import References

_MOST_BYTES = 1 << 24
_MOST_REFERENCES = 20
_DEEPEST = 2
_MOST_NAMES = 500
_WORD = re.compile(r"(?P<name>[^=]*?)(?P<is_json>:?)=(?P<text>.*)", re.DOTALL)
_OF_JSON = ("object", "null")
_TYPES = ("string", "integer", "number", "boolean", "array", *_OF_JSON)


class WrongWords(ValueError):
    """The words give no arguments. The text has a line for each that is wrong."""


def arguments_of(
    tool: Tool, words: Sequence[str], json_text: str | None
) -> dict[str, Any]:
    """The arguments that `NAME=TEXT` and `NAME:=JSON` give, by the schemas of the parameters.

    Args:
        tool: whose call it is.
        words: a name again adds to a list; `:=` takes a value of any kind.
        json_text: the arguments as one JSON object, to which the words add.

    Raises:
        WrongWords: a word is neither, or its value is not what it has to be.
    """
    try:
        arguments = json_object(json_text)
    except ValueError as error:
        raise WrongWords(f"--arguments: {error}") from None
    wrong: list[str] = []
    texts: dict[str, list[str]] = {}
    for word in words:
        found = _WORD.fullmatch(word)
        if found is None or not found["name"]:
            wrong.append(f"`{escaped(word)}` is neither NAME=TEXT nor NAME:=JSON")
        elif not found["is_json"]:
            texts.setdefault(found["name"], []).append(found["text"])
        elif found["name"] in texts:
            wrong.append(f"`{escaped(found['name'])}` is given in both forms")
        else:
            try:
                arguments[found["name"]] = json_value(found["text"])
            except ValueError as error:
                wrong.append(f"`{escaped(found['name'])}`: {error}")
    properties = properties_of(tool)
    for name, several in texts.items():
        try:
            arguments[name] = _value_of(properties.get(name, {}), several)
        except ValueError as error:
            wrong.append(f"`{escaped(name)}`: {error}")
    if wrong:
        raise WrongWords("\n".join(wrong))
    return arguments


def usage(tool: Tool) -> Iterator[str]:
    """A line for each parameter: how `NAME=TEXT` gives it, and what it is."""
    required = tool.parameters.get("required")
    for name, schema in properties_of(tool).items():
        types, values = types_of(schema), choices(schema)
        is_text = any(one not in _OF_JSON for one in types) or (values and not types)
        told = [" or ".join(types)] if types else []
        if values:
            told = ["one of " + ", ".join(values)]
        if isinstance(required, list) and name in required:
            told.append("required")
        sign = "=" if is_text else ":="
        yield escaped(f"{name}{sign}... ({', '.join(told) or 'any value'})")


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


def _value_of(schema: Any, texts: Sequence[str]) -> Any:
    """A text as a value, or several as a list, which may be one of what a schema names."""
    if len(texts) == 1 and not takes_list(schema):
        return to_value(schema, texts[0])
    for one in (schema, *_members(schema)):
        if takes_list(one):
            return list_value(one, texts)
    raise ValueError("it is given more than once, and is no list")


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
    for member in _members(schema):
        found += types_of(member)
    return tuple(dict.fromkeys(one for one in found if one in _TYPES))


def choices(schema: Any) -> list[str]:
    """The words of the only values that a schema takes; none where there are others."""
    return [typed(one) for one in _listed(schema, "enum")]


def typed(value: Any) -> str:
    """A value as one word."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _members(schema: Any) -> list[Any]:
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
        if isinstance(plain.get(keyword), list):
            members = plain[keyword]
            plain[keyword] = [_plain(references, one, depth + 1) for one in members]
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
