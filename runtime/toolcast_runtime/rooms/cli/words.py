"""The words of a call, `NAME=TEXT` and `NAME:=JSON`, as its arguments.

Needs `click`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...core.calls.untrusted_text import escaped
from ...core.definitions.tool import Tool
from .plain_schemas import properties_of
from .values import json_value, list_value, to_value, typed

_WORD = re.compile(r"(?P<name>[^=]*?)(?P<is_json>:?)=(?P<text>.*)", re.DOTALL)
_MOST_NAMES = 500
_OF_TEXT = frozenset(["string", "integer", "number", "boolean", "array"])
_TYPES = _OF_TEXT | {"object", "null"}


class WrongWords(ValueError):
    """The words give no arguments. The text has a line for each that is wrong."""


def arguments_of(
    tool: Tool, words: Sequence[str], json_text: str | None
) -> dict[str, Any]:
    """The arguments that the words give, each by the schema of its parameter.

    Args:
        tool: whose call it is.
        words: `NAME=TEXT`, or `NAME:=JSON` for a value of any kind. The same name again
            adds to a list.
        json_text: the arguments as one JSON object, to which the words add; `-` is
            standard input, `@FILE` a file.

    Raises:
        WrongWords: a word is neither, or its value is not what it has to be.
    """
    arguments: dict[str, Any] = {}
    wrong: list[str] = []
    if json_text is not None:
        try:
            given = json_value(json_text)
        except ValueError as error:
            raise WrongWords(f"--arguments: {error}") from None
        if not isinstance(given, dict):
            raise WrongWords("--arguments: not a JSON object")
        arguments = given
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
        schema = properties.get(name, {})
        try:
            arguments[name] = _value(schema, several)
        except ValueError as error:
            wrong.append(f"`{escaped(name)}`: {error}")
    if wrong:
        raise WrongWords("\n".join(wrong))
    return arguments


def _value(schema: Any, texts: Sequence[str]) -> Any:
    if isinstance(schema, Mapping) and schema.get("type") == "array":
        return list_value({"items": None, **schema}, texts)
    if len(texts) > 1:
        for branch in _branches(schema):
            if branch.get("type") == "array":
                return list_value({"items": None, **branch}, texts)
        raise ValueError("it is given more than once, and is no list")
    return to_value(schema, texts[0])


def _branches(schema: Any) -> list[Mapping[str, Any]]:
    """What a value may be, where a schema names several: a list, or null, say."""
    if not isinstance(schema, Mapping):
        return []
    several = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(several, list):
        return [one for one in several if isinstance(one, Mapping)]
    return [schema]


def _kind(schema: Any) -> tuple[str, ...]:
    """The types that a value may have; none where any."""
    found: list[str] = []
    for branch in _branches(schema):
        kinds = branch.get("type")
        found += kinds if isinstance(kinds, list) else [kinds] if kinds else ["?"]
    known = all(isinstance(one, str) and one in _TYPES for one in found)
    return tuple(dict.fromkeys(found)) if known else ()


def usage(tool: Tool) -> Iterator[str]:
    """A line for each parameter: how it is given, and what it is."""
    required = tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    for name, schema in properties_of(tool).items():
        kinds = _kind(schema)
        choices = schema.get("enum") if isinstance(schema, Mapping) else None
        is_text = bool({*kinds} & _OF_TEXT) or (not kinds and isinstance(choices, list))
        sign = "=" if is_text else ":="
        told = [" or ".join(kinds)] if kinds else []
        if isinstance(choices, list):
            told = ["one of " + ", ".join(map(typed, choices))]
        told += ["required"] if name in needed else []
        yield escaped(f"{name}{sign}... ({', '.join(told) or 'any value'})")


def likely(name: str, known: Sequence[str]) -> str | None:
    """What a name was probably meant for: the same in another spelling, or one like it."""
    spelt = {_spelt(one): one for one in known[:_MOST_NAMES]}
    near = difflib.get_close_matches(_spelt(name[:128]), spelt, 1, 0.6)
    return spelt[near[0]] if near else None


def _spelt(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())
