"""Words of a command line as JSON values, by the schema of their parameter.

Needs `click`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import click

from ..tools.tool import Tool
from ..validation.references import References

__all__ = [
    "ParameterOption",
    "described",
    "json_value",
    "options_of",
    "properties_of",
    "to_value",
]

_MOST_REFERENCES = 20
_DEEPEST = 2


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

    @property
    def needs_json(self) -> bool:
        """Whether no plain word is a value of it: objects, and lists of them."""
        items = self.schema.get("items") if self.kind == "array" else self.schema
        kinds = _kinds(items)
        return bool(kinds) and kinds <= {"object", "array"}

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

    def value(self, given: Any) -> Any:
        """The JSON value of what the shell gave."""
        if self.kind == "boolean":
            return given
        if self.kind == "array":
            items = self.schema.get("items")
            if len(given) == 1 and _kinds(items) != {"string"}:
                whole = _json(given[0])
                if isinstance(whole, list):
                    return whole
            return [to_value(items, text) for text in given]
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
        texts = [_typed(one) for one in (value if many else [value])]
        if not texts or self.value(texts if many else texts[0]) != value:
            return None
        return [word for text in texts for word in (self.flag, text)]


def properties_of(tool: Tool) -> dict[str, Any]:
    """The schema of each parameter of a tool, with what its references name in their place."""
    references = References(tool.parameters)
    properties = tool.parameters.get("properties", {})
    return {name: _plain(references, properties[name]) for name in properties}


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


def _plain(references: References, schema: Any, depth: int = 0) -> Any:
    """A schema without references in what decides how a word is read.

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
        schema = {**named, **{k: schema[k] for k in schema if k != beside}}
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


def to_value(schema: Any, text: str) -> Any:
    """A word as the JSON value that its schema asks for; as text when it is none."""
    kinds = _kinds(schema)
    if "string" in kinds and not kinds & {"object", "array"}:
        return text
    value = _json(text)
    if value is None and text != "null":
        return text
    if "string" in kinds and not isinstance(value, (dict, list)):
        return text
    return value


def json_value(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: it is none, or is nested without end.
    """
    try:
        return json.loads(text, parse_constant=_not_json)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _json(text: str) -> Any:
    try:
        return json_value(text)
    except ValueError:
        return None


def _typed(value: Any) -> str:
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
    return [_typed(choice) for choice in choices] if isinstance(choices, list) else []


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
        notes.append(f"default: {_typed(schema['default'])}")
    if is_list and not by_place:
        notes.append("repeatable")
    return f"{text}  [{'; '.join(notes)}]".strip() if notes else text
