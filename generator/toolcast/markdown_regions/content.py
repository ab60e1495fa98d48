"""Render the content of managed regions: tables of tools, parameters and exposure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..encoders.code import Code, join_lines
from ..encoders.markdown import (
    encode_cell,
    encode_code_span,
    encode_table_row,
    interpolate,
    join_values,
)
from ..model.model import Toolset, ToolSpec, Workspace
from ..suggestions import did_you_mean, suggest_name
from ..targets.exposure import build_exposures

# The limits of a table cell: longer lists of enum values and union members, and longer
# values, are cut off. Deeper schemas are not shown.
_MAX_VALUES = 12
_MAX_VALUE_LENGTH = 60
_MAX_SCHEMA_DEPTH = 8


class DocumentError(Exception):
    """Region or document that cannot be used.

    Attributes:
        help: what to do about it; empty for no help.
    """

    def __init__(self, message: str, help: str = "") -> None:
        super().__init__(message)
        self.help = help


class RegionError(DocumentError):
    """Marker that requests content that does not exist."""


def render_region(arguments: Sequence[str], workspace: Workspace) -> str:
    """Return the Markdown lines of a region, without a final newline.

    Args:
        arguments: the kind of region and its arguments, as in the opening marker.
        workspace: the workspace that the content describes.

    Raises:
        RegionError: the kind is unknown, or an argument is missing or names something
            that does not exist.
        ExtensionError: a listed extension cannot be used.
    """
    kind, *names = arguments or ("",)
    if kind not in _REGIONS:
        usages = (f"`{name} {usage}`" for name, (usage, _) in _REGIONS.items())
        help_ = did_you_mean(kind, _REGIONS) or f"use {' or '.join(usages)}"
        raise RegionError(f"unknown region `{kind}`", help_)
    usage, render = _REGIONS[kind]
    parameters = usage.split()
    max_names = len(parameters)
    min_names = sum(not parameter.startswith("[") for parameter in parameters)
    if not min_names <= len(names) <= max_names:
        help_ = f"write `<!-- toolcast: {kind} {usage} -->`"
        raise RegionError(f"`{kind}` needs the arguments {usage}", help_)
    toolsets = {toolset.name: toolset for toolset in workspace.toolsets}
    _validate_name(toolsets, "toolset", names[0])
    return str(join_lines(render(workspace, toolsets[names[0]], names[1:])))


def _validate_name(known: Mapping[str, object], kind: str, name: str) -> None:
    if name not in known:
        raise RegionError(f"unknown {kind} `{name}`", suggest_name(name, known))


def _render_table(
    titles: Iterable[str], rows: Iterable[Sequence[Code]]
) -> Iterator[Code]:
    header = [encode_cell(title) for title in titles]
    yield encode_table_row(header)
    yield encode_table_row([encode_cell("---") for _ in header])
    for row in rows:
        yield encode_table_row(row)


def _render_tools(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    tools: Sequence[ToolSpec] = toolset.tools
    if arguments:
        [section_name] = arguments
        sections = {section.name: section for section in toolset.sections}
        _validate_name(sections, "section", section_name)
        tools = [tool for tool in tools if tool.section == section_name]
    if not tools:
        yield interpolate("No tools.")
        return
    rows = [
        [encode_cell(encode_code_span(tool.name)), encode_cell(tool.summary)]
        for tool in tools
    ]
    titles = ["Tool", "What it does"]
    if "cli" in toolset.targets:
        titles.append("Command")
        exposures = build_exposures(workspace, toolset)
        for row, tool in zip(rows, tools, strict=True):
            row.append(_render_command(tool, exposures[tool.name].targets["cli"]))
    yield from _render_table(titles, rows)


def _render_command(tool: ToolSpec, omission_reason: str) -> Code:
    """Return the cell with a tool's CLI command, or `no:` and the reason."""
    if tool.cli is None or tool.cli.keyword is None or omission_reason:
        return encode_cell(f"no: {omission_reason}")
    return encode_cell(encode_code_span(tool.cli.keyword))


def _render_parameters(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    """Yield a table with one row per parameter of a tool.

    The rows of nested properties follow, with their dotted paths.

    Raises:
        RegionError: the toolset has no such tool.
    """
    tools = {tool.name: tool for tool in toolset.tools}
    _validate_name(tools, "tool", arguments[0])
    rows = list(_list_parameter_rows(tools[arguments[0]].listed_parameters, "", 0))
    if not rows:
        yield interpolate("No parameters.")
        return
    yield from _render_table(("Parameter", "Type", "Required", "Description"), rows)


def _list_parameter_rows(
    schema: Mapping[str, Any], prefix: str, depth: int
) -> Iterator[Sequence[Code]]:
    properties = schema.get("properties")
    required = schema.get("required")
    required_names = required if isinstance(required, list) else []
    for name, property_schema in (
        properties.items() if isinstance(properties, dict) else ()
    ):
        description = None
        if isinstance(property_schema, dict):
            description = property_schema.get("description")
        yield [
            encode_cell(encode_code_span(f"{prefix}{name}")),
            encode_cell(_describe_type(property_schema, 0)),
            encode_cell("yes" if name in required_names else ""),
            encode_cell(description if isinstance(description, str) else ""),
        ]
        if isinstance(property_schema, dict) and depth < _MAX_SCHEMA_DEPTH:
            yield from _list_parameter_rows(
                property_schema, f"{prefix}{name}.", depth + 1
            )
            items = property_schema.get("items")
            if isinstance(items, dict):
                yield from _list_parameter_rows(items, f"{prefix}{name}[].", depth + 1)


def _describe_type(schema: Any, depth: int) -> Code:
    """Return a text on the values that a schema allows, and on its default.

    Example: `string or null, default null`.
    """
    if not isinstance(schema, dict) or depth > _MAX_SCHEMA_DEPTH:
        return interpolate("nothing") if schema is False else interpolate("anything")
    description = _describe_values(schema, depth)
    if "default" in schema:
        default = _encode_value(schema["default"])
        description = interpolate("{}, default {}", description, default)
    return description


def _describe_values(schema: Mapping[str, Any], depth: int) -> Code:
    if "const" in schema:
        return _encode_value(schema["const"])
    if isinstance(schema.get("enum"), list):
        values = schema["enum"]
        encoded = [_encode_value(value) for value in values[:_MAX_VALUES]]
        ellipsis = [interpolate("...")] if len(values) > _MAX_VALUES else []
        return join_values([*encoded, *ellipsis])
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and "type" not in schema:
            members = [
                _describe_type(member, depth + 1)
                for member in schema[keyword][:_MAX_VALUES]
            ]
            # Members with the same description are listed once.
            return interpolate(" or ").join(dict.fromkeys(members))
    if isinstance(schema.get("$ref"), str):
        return encode_code_span(schema["$ref"].rpartition("/")[2])
    declared = schema.get("type")
    type_names = declared if isinstance(declared, list) else [declared]
    types = [
        (
            interpolate("array of {}", _describe_type(schema["items"], depth + 1))
            if name == "array" and "items" in schema
            else encode_cell(name)
        )
        for name in type_names
        if isinstance(name, str)
    ]
    return interpolate(" or ").join(types) if types else interpolate("anything")


def _encode_value(value: Any) -> Code:
    text = json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > _MAX_VALUE_LENGTH:
        text = f"{text[: _MAX_VALUE_LENGTH - 3]}..."
    return encode_code_span(text)


def _render_exposure(
    workspace: Workspace, toolset: Toolset, arguments: Sequence[str]
) -> Iterator[Code]:
    """Yield a table with one row per tool, and one column per client and target.

    A cell is `yes`, or `no:` and the reason.
    """
    exposures = build_exposures(workspace, toolset)
    if not exposures:
        yield interpolate("No tools.")
        return
    first = next(iter(exposures.values()))
    columns = [*first.clients, *first.targets]
    rows = []
    for tool, exposure in exposures.items():
        reasons = [*exposure.clients.values(), *exposure.targets.values()]
        cells = [
            encode_cell(f"no: {reason}" if reason else "yes") for reason in reasons
        ]
        rows.append([encode_cell(encode_code_span(tool)), *cells])
    titles = ["Tool", *(encode_code_span(name) for name in columns)]
    yield from _render_table(titles, rows)


_Renderer = Callable[[Workspace, Toolset, Sequence[str]], Iterator[Code]]
_REGIONS: Mapping[str, tuple[str, _Renderer]] = {
    "tools": ("TOOLSET [SECTION]", _render_tools),
    "parameters": ("TOOLSET TOOL", _render_parameters),
    "exposure": ("TOOLSET", _render_exposure),
}
"""The usage and the renderer of each kind of region."""
