"""A tool's parameters as a table of Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..encoders.code import Code
from ..encoders.markdown import cell, listed, phrase, span, table_row
from ..model.model import ToolSpec

__all__ = ["parameter_table"]

_MOST = 12
_LONGEST = 60
_DEEPEST = 8


def parameter_table(tool: ToolSpec) -> Iterator[Code]:
    """The lines: a row a parameter, those within others below them by their way."""
    rows = list(_rows(tool.parameters, "", 0))
    if not rows:
        yield phrase("No parameters.")
        return
    titles = ("Parameter", "Type", "Required", "Description")
    yield table_row([cell(title) for title in titles])
    yield table_row([cell("---") for _ in titles])
    yield from rows


def _rows(schema: Mapping[str, Any], way: str, depth: int) -> Iterator[Code]:
    properties = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        told = inner.get("description") if isinstance(inner, dict) else None
        yield table_row(
            [
                cell(span(f"{way}{name}")),
                cell(_type(inner, 0)),
                cell("yes" if name in names else ""),
                cell(told if isinstance(told, str) else ""),
            ]
        )
        if isinstance(inner, dict) and depth < _DEEPEST:
            yield from _rows(inner, f"{way}{name}.", depth + 1)
            items = inner.get("items")
            if isinstance(items, dict):
                yield from _rows(items, f"{way}{name}[].", depth + 1)


def _type(schema: Any, depth: int) -> Code:
    """What a value may be, in words."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return phrase("nothing") if schema is False else phrase("anything")
    words = _kind(schema, depth)
    if "default" in schema:
        words = phrase("{}, default {}", words, _literal(schema["default"]))
    return words


def _kind(schema: Mapping[str, Any], depth: int) -> Code:
    if "const" in schema:
        return _literal(schema["const"])
    if isinstance(schema.get("enum"), list):
        values = schema["enum"]
        shown = [_literal(value) for value in values[:_MOST]]
        more = [phrase("...")] if len(values) > _MOST else []
        return listed([*shown, *more])
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and "type" not in schema:
            kinds = [_type(one, depth + 1) for one in schema[keyword][:_MOST]]
            return phrase(" or ").join(dict.fromkeys(kinds))
    if isinstance(schema.get("$ref"), str):
        return span(schema["$ref"].rpartition("/")[2])
    types = schema.get("type")
    named = types if isinstance(types, list) else [types]
    kinds = [
        (
            phrase("array of {}", _type(schema["items"], depth + 1))
            if name == "array" and "items" in schema
            else cell(name)
        )
        for name in named
        if isinstance(name, str)
    ]
    return phrase(" or ").join(kinds) if kinds else phrase("anything")


def _literal(value: Any) -> Code:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return span(text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}...")
