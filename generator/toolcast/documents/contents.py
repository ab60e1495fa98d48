"""What regions of a project's documents hold: tables of tools and of parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..encoders.code import Code, lines
from ..encoders.markdown import cell, listed, phrase, span, table_row
from ..model.model import Toolset, ToolSpec, Workspace
from ..suggestions import did_you_mean, known_instead
from ..targets.exposure import exposures

__all__ = [
    "parameter_table",
    "USAGE",
    "UnknownRegion",
    "content_of",
]


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
    yield from _table(map(cell, titles), rows)


def _rows(schema: Mapping[str, Any], way: str, depth: int) -> Iterator[Sequence[Code]]:
    properties = schema.get("properties")
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        description = inner.get("description") if isinstance(inner, dict) else None
        yield [
            cell(span(f"{way}{name}")),
            cell(_type(inner, 0)),
            cell("yes" if name in names else ""),
            cell(description if isinstance(description, str) else ""),
        ]
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


USAGE = {
    "tools": "tools TOOLSET [SECTION]",
    "parameters": "parameters TOOLSET TOOL",
    "exposure": "exposure TOOLSET",
}
"""What a mark may say, by its first word."""


class UnknownRegion(Exception):
    """A mark asks for what there is not.

    Attributes:
        help: what it could say instead.
    """

    def __init__(self, message: str, help: str) -> None:
        super().__init__(message)
        self.help = help


def content_of(words: Sequence[str], workspace: Workspace) -> str:
    """The lines of a region, without an end of the last one.

    Raises:
        UnknownRegion: the words are none of `USAGE`, or name what is not there.
        ExtensionFailure: a listed extension cannot be used.
    """
    kind, *arguments = words or ("",)
    if kind not in _MAKERS:
        known = " or ".join(f"`{usage}`" for usage in USAGE.values())
        help_ = did_you_mean(kind, USAGE) or f"say {known}"
        raise UnknownRegion(f"there is no region `{kind}`", help_)
    usage = USAGE[kind].split()[1:]
    most, least = len(usage), sum(not word.startswith("[") for word in usage)
    if not least <= len(arguments) <= most:
        message = f"behind `{kind}` goes {' '.join(usage)}"
        raise UnknownRegion(message, f"write `<!-- toolcast: {USAGE[kind]} -->`")
    toolsets = {toolset.name: toolset for toolset in workspace.toolsets}
    toolset = toolsets[_one_of(toolsets, "toolset", arguments[0])]
    return str(lines(_MAKERS[kind](workspace, toolset, arguments[1:])))


def _one_of(known: Mapping[str, object], what: str, name: str) -> str:
    if name not in known:
        raise UnknownRegion(f"there is no {what} `{name}`", known_instead(name, known))
    return name


def _table(titles: Iterable[Code], rows: Iterable[Sequence[Code]]) -> Iterator[Code]:
    named = list(titles)
    yield table_row(named)
    yield table_row([cell("---") for _ in named])
    for row in rows:
        yield table_row(row)


def _tools(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    tools: Sequence[ToolSpec] = toolset.tools
    if arguments:
        sections = {section.name: section for section in toolset.sections}
        name = _one_of(sections, "section", arguments[0])
        tools = [tool for tool in tools if tool.section == name]
    if not tools:
        yield phrase("No tools.")
        return
    yield from _table(
        [cell("Tool"), cell("What it does")],
        ([cell(span(tool.name)), cell(tool.summary)] for tool in tools),
    )


def _parameters(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    tools = {tool.name: tool for tool in toolset.tools}
    return parameter_table(tools[_one_of(tools, "tool", arguments[0])])


def _exposure(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    """A row a tool, a column a client and a target: `yes`, or why not."""
    found = exposures(workspace, toolset)
    if not found:
        yield phrase("No tools.")
        return
    first = next(iter(found.values()))
    names = [*first.clients, *first.targets]
    yield from _table(
        [cell("Tool"), *(cell(span(name)) for name in names)],
        (
            [
                cell(span(tool)),
                *(
                    cell(f"no: {reason}" if reason else "yes")
                    for reason in (*one.clients.values(), *one.targets.values())
                ),
            ]
            for tool, one in found.items()
        ),
    )


_Maker = Callable[[Workspace, Toolset, Sequence[str]], Iterator[Code]]
_MAKERS: Mapping[str, _Maker] = {
    "tools": _tools,
    "parameters": _parameters,
    "exposure": _exposure,
}
