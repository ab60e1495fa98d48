"""Words of a command line as JSON values, by the schema of their parameter.

Needs `click`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import click

from ...core.definitions.tool import Tool
from ...core.files.regular_file import read_regular
from .plain_schemas import properties_of

_MOST_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class ParameterOption:
    """One parameter as an option.

    Attributes:
        parameter: the parameter's name.
        flag: the option, `--min-keywords`.
        name: the name under which click hands its value over.
        schema: the parameter's JSON Schema.
        required: shown in the help; the registry's validation decides.
    """

    parameter: str
    flag: str
    name: str
    schema: Any
    required: bool

    @property
    def kind(self) -> str | None:
        """The schema's `type`, when it is one word."""
        kind = self.schema.get("type") if isinstance(self.schema, Mapping) else None
        return kind if isinstance(kind, str) else None

    def click_option(self) -> click.Option:
        """The option as click knows it; nothing but text is taken from the shell."""
        shown = described(self.schema, self.required)
        if self.kind == "boolean":
            return click.Option(
                [f"{self.flag}/--no-{self.flag[2:]}", self.name],
                default=None,
                help=shown,
            )
        return click.Option(
            [self.flag, self.name],
            multiple=self.kind == "array",
            metavar=_metavar(self.schema, self.kind),
            help=shown,
        )

    @property
    def aliases(self) -> Iterator[str]:
        """Other spellings of the flag, without dashes: the parameter's own name."""
        yield self.parameter
        yield self.flag[2:].replace("-", "_")

    def value(self, given: Any) -> Any:
        """The JSON value of what the shell gave.

        Raises:
            ValueError: it has to be JSON and is not.
        """
        if self.kind == "boolean":
            return given
        if self.kind == "array":
            return list_value(self.schema, given)
        return to_value(self.schema, given)

    def words(self, value: Any) -> list[str] | None:
        """The words that give a value; None when only JSON can."""
        if self.kind == "boolean":
            if not isinstance(value, bool):
                return None
            return [self.flag if value else f"--no-{self.flag[2:]}"]
        many = self.kind == "array"
        if many and not isinstance(value, list):
            return None
        texts = [typed(one) for one in (value if many else [value])]
        try:
            is_same = self.value(texts if many else texts[0]) == value
        except (ValueError, IndexError):
            return None
        return (
            [word for text in texts for word in (self.flag, text)] if is_same else None
        )


def options_of(
    tool: Tool, required: frozenset[str] | None = None
) -> Iterator[ParameterOption]:
    """The options of a tool's parameters; those whose flags clash are left to JSON."""
    properties = properties_of(tool)
    needed = (
        frozenset(tool.parameters.get("required", ())) if required is None else required
    )
    taken = {"--help", "--arguments"}
    for parameter, schema in properties.items():
        word = re.sub(r"[^a-z0-9]+", "-", parameter.lower()).strip("-")
        flag, denied = f"--{word}", f"--no-{word}"
        if not word or flag in taken or denied in taken:
            continue
        taken.update((flag, denied))
        name = "option_" + word.replace("-", "_")
        yield ParameterOption(parameter, flag, name, schema, parameter in needed)


def list_value(schema: Any, words: Sequence[str]) -> list[Any]:
    """Words as a list: each an item, or one that is the whole list in JSON.

    Raises:
        ValueError: one has to be JSON and is not.
    """
    items = schema.get("items")
    if len(words) == 1 and _kinds(items) != {"string"}:
        [word] = words
        if _is_elsewhere(word) or word.lstrip()[:1] == "[":
            whole = json_value(word)
            if isinstance(whole, list):
                return whole
            return [whole]
    return [to_value(items, word) for word in words]


def to_value(schema: Any, text: str) -> Any:
    """A word as the JSON value that its schema asks for; as text when it is none.

    Raises:
        ValueError: it can only be an object or a list, and is no JSON.
    """
    kinds = _kinds(schema)
    if "string" in kinds and not kinds & {"object", "array"}:
        return text
    if kinds and kinds <= {"object", "array"}:
        return json_value(text)
    value = _json(text)
    if value is None and text != "null":
        return text
    if "string" in kinds and not isinstance(value, (dict, list)):
        return text
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


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"not JSON: {constant} is no JSON number")


def _json(text: str) -> Any:
    try:
        return json_value(text)
    except ValueError:
        return None


def typed(value: Any) -> str:
    """A value as one word."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _kinds(schema: Any) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    kinds: set[str] = set()
    kind = schema.get("type")
    kinds.update([kind] if isinstance(kind, str) else kind or ())
    for value in (
        *schema.get("enum", ()),
        *([schema["const"]] if "const" in schema else ()),
    ):
        kinds.update(["string"] if isinstance(value, str) else ())
    for member in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        kinds |= _kinds(member)
    return kinds


def _metavar(schema: Any, kind: str | None) -> str:
    if kind == "array":
        items = schema.get("items")
        item = items.get("type") if isinstance(items, Mapping) else None
        return _metavar(items, item if isinstance(item, str) else None)
    choices = _choices(schema)
    if choices and len("|".join(choices)) <= 40:
        return "[" + "|".join(choices) + "]"
    words = {"integer": "INTEGER", "number": "NUMBER", "string": "TEXT"}
    return words.get(kind or "", "TEXT" if choices else "JSON")


def _choices(schema: Any) -> list[str]:
    choices = schema.get("enum") if isinstance(schema, Mapping) else None
    return [typed(choice) for choice in choices] if isinstance(choices, list) else []


def described(schema: Any, required: bool, *, by_place: bool = False) -> str:
    """The help of a parameter: the description, then what the schema adds to it.

    Args:
        schema: the parameter's, without references.
        required: it has to be given.
        by_place: the choices are told here, because no word before the help shows them.
    """
    if not isinstance(schema, Mapping):
        return "[required]" if required else ""
    is_list = schema.get("type") == "array"
    text = " ".join(str(schema.get("description") or "").split())
    notes = ["required"] if required else []
    choices = _choices(schema.get("items") if is_list else schema)
    if choices and (by_place or len("|".join(choices)) > 40):
        notes.append("one of: " + ", ".join(choices))
    if "default" in schema:
        notes.append(f"default: {typed(schema['default'])}")
    if is_list and not by_place:
        notes.append("repeatable")
    return f"{text}  [{'; '.join(notes)}]".strip() if notes else text
