"""Words of a command line as JSON values, by the schema of their parameter.

Needs `click`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from .tool import Tool

__all__ = ["ParameterOption", "options_of", "to_value"]


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
        help_ = (
            self.schema.get("description") if isinstance(self.schema, Mapping) else None
        )
        described = " ".join(str(help_ or "").split())
        if self.required:
            described = f"{described}  [required]".strip()
        if self.kind == "boolean":
            return click.Option(
                [f"{self.flag}/--no-{self.flag[2:]}", self.name],
                default=None,
                help=described,
            )
        return click.Option(
            [self.flag, self.name],
            multiple=self.kind == "array",
            metavar=_metavar(self.schema, self.kind),
            help=described,
        )

    def value(self, given: Any) -> Any:
        """The JSON value of what the shell gave."""
        if self.kind == "boolean":
            return given
        if self.kind == "array":
            items = self.schema.get("items")
            whole = _json(given[0]) if len(given) == 1 else None
            if isinstance(whole, list):
                return whole
            return [to_value(items, text) for text in given]
        return to_value(self.schema, given)


def options_of(
    tool: Tool, required: frozenset[str] | None = None
) -> Iterator[ParameterOption]:
    """The options of a tool's parameters; those whose flags clash are left to JSON."""
    properties = tool.parameters.get("properties", {})
    needed = (
        frozenset(tool.parameters.get("required", ())) if required is None else required
    )
    taken = {"--help", "--arguments"}
    for parameter, schema in properties.items():
        word = re.sub(r"[^a-z0-9]+", "-", parameter.lower()).strip("-")
        flag = f"--{word}"
        if not word or flag in taken:
            continue
        taken.update((flag, f"--no-{word}"))
        name = "option_" + word.replace("-", "_")
        yield ParameterOption(parameter, flag, name, schema, parameter in needed)


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


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


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
    choices = schema.get("enum") if isinstance(schema, Mapping) else None
    if isinstance(choices, list) and len(choices) <= 6:
        return "[" + "|".join(str(choice) for choice in choices) + "]"
    return {"integer": "INTEGER", "number": "NUMBER", "string": "TEXT"}.get(
        kind or "", "TEXT" if kind == "array" else "JSON"
    )
