"""Parse the arguments of a call on the command line, make the call, print the result.

Calls to the tools of a toolset and of an MCP server use the same functions. Requires `click`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from toolcast_runtime.cli.arguments import (
    check_command_arguments,
    find_similar_name,
    is_array_schema,
    list_alternatives,
    list_enum_values,
    list_types,
    parse_json,
    parse_json_object,
    parse_list,
    parse_value,
    resolve_properties,
)
from toolcast_runtime.cli.terminal import echo
from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import Tool

from .result_format import format_raw_json, print_call_result

OK, FAILED, NOT_CALLED = 0, 1, 2
"""Exit codes of `toolcast call`: success, the tool failed, the tool was not called."""
_MAX_LISTED = 60
"""Maximum number of tools or parameters that an error message lists."""
# The name ends at the first `=`, so that a text value can contain `=`.
_ASSIGNMENT = re.compile(r"(?P<name>[^=]*?)(?P<is_json>:?)=(?P<text>.*)", re.DOTALL)
_JSON_TYPES = ("object", "null")
"""JSON types whose values can only be written as `NAME:=JSON`, not as `NAME=TEXT`."""


class CallError(Exception):
    """Raised when a call cannot be made because of the package, server or client.

    The message can be printed unchanged: text of the server in it is already escaped.
    """


@dataclass(frozen=True, slots=True)
class Request:
    """A call as the user specified it on the command line.

    Attributes:
        tool: the name of the tool; None to list the tools.
        assignments: arguments in the form `NAME=TEXT` or `NAME:=JSON`.
        json_text: arguments as one JSON object, or `-` for stdin, or `@FILE`.
        client: the client to call as.
        is_json: whether to print the result as JSON instead of tables and lines.
        folder: the folder for images, audio and files of the result.
    """

    tool: str | None
    assignments: Sequence[str] = ()
    json_text: str | None = None
    client: str | None = None
    is_json: bool = False
    folder: str = "."


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools that a client can call, with the functions that check and call them.

    Attributes:
        owner: the toolset or server of the tools in messages, such as `the toolset molecule`.
        tools: the tools by name.
        check: returns a message for each problem of a call's arguments; empty if valid.
        call: calls a tool and returns the result in the form of MCP's `CallToolResult`.
    """

    owner: str
    tools: Mapping[str, Tool]
    check: Callable[[Tool, Mapping[str, Any]], Sequence[str]]
    call: Callable[[Tool, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def call_once(offered: OfferedTools, request: Request) -> int:
    """Check the arguments of a call, make the call, and print its result.

    If the tool is unknown or the arguments are invalid, prints errors and makes no call.

    Returns:
        The exit code: `OK`, `FAILED` or `NOT_CALLED`.

    Raises:
        CallError: the call cannot be made.
    """
    tool = offered.tools.get(request.tool or "")
    if tool is None:
        return _print_unknown_tool(offered, request.tool)
    try:
        arguments = parse_arguments(tool, request.assignments, request.json_text)
    except ArgumentParseError as error:
        return _print_problems(tool, str(error).split("\n"))
    problems = check_command_arguments(
        arguments, lambda checked: offered.check(tool, checked)
    )
    if problems:
        # If a required parameter is missing, its name may be misspelled in the call.
        hints = _find_misspellings(tool, arguments, problems)
        return _print_problems(tool, [*problems, *hints])
    result = await offered.call(tool, arguments)
    if request.is_json:
        click.echo(format_raw_json(result))
        return FAILED if result.get("isError") else OK
    is_successful = print_call_result(result, tool.name, request.folder)
    return OK if is_successful else FAILED


def _print_unknown_tool(offered: OfferedTools, name: str | None) -> int:
    """Print an error for a missing or unknown tool name, and return `NOT_CALLED`.

    The error contains a similar name if there is one, otherwise the list of tools.
    """
    names = sorted(offered.tools)
    if name is None:
        _print_error_line(f"error: missing TOOL; {offered.owner} has these tools:")
    else:
        similar = find_similar_name(name, names)
        hint = f"; did you mean `{escape_excerpt(similar)}`?" if similar else ""
        _print_error_line(
            f"error: {offered.owner} has no tool `{escape_excerpt(name)}`{hint}"
        )
        if similar is not None:
            return NOT_CALLED
    for tool_name in names[:_MAX_LISTED]:
        summary = escape_excerpt(offered.tools[tool_name].summary, 60)
        suffix = f"  {summary}" if summary else ""
        _print_error_line(f"  {escape_excerpt(tool_name)}{suffix}")
    if len(names) > _MAX_LISTED:
        _print_error_line(f"  and {len(names) - _MAX_LISTED} more")
    return NOT_CALLED


def _find_misspellings(
    tool: Tool, arguments: Mapping[str, Any], problems: Sequence[str]
) -> Iterator[str]:
    """Yield a message for each argument that is probably a misspelled parameter.

    A schema without `additionalProperties: false` accepts such arguments, so validation does
    not report them. Arguments that one of the problems already names are skipped.
    """
    parameters = resolve_properties(tool)
    for name in arguments:
        similar = None if name in parameters else find_similar_name(name, parameters)
        is_mentioned = any(f"`{name}`" in problem for problem in problems)
        if similar is not None and not is_mentioned:
            yield f"`{name}` is not a parameter; did you mean `{similar}`?"


def _print_problems(tool: Tool, problems: Sequence[str]) -> int:
    """Print the problems of a call and the tool's parameters; return `NOT_CALLED`."""
    for problem in problems:
        _print_error_line(f"error: {escape_excerpt(problem, 1000)}")
    parameters = list(describe_parameters(tool))
    suffix = ":" if parameters else " no arguments"
    _print_error_line(f"  help: `{escape_excerpt(tool.name)}` accepts{suffix}")
    for line in parameters[:_MAX_LISTED]:
        _print_error_line(f"    {line}")
    _print_error_line("  the tool was not called")
    return NOT_CALLED


def _print_error_line(line: str) -> None:
    echo(line, err=True)


class ArgumentParseError(ValueError):
    """Raised for invalid arguments of a tool; the message has one line per problem."""


def parse_arguments(
    tool: Tool, assignments: Sequence[str], json_text: str | None
) -> dict[str, Any]:
    """Return the arguments of a call, with text converted to the parameters' types.

    The arguments are not validated against the schemas.

    Args:
        tool: the tool to call.
        assignments: arguments in the form `NAME=TEXT` or `NAME:=JSON`. Several `NAME=TEXT`
            with the same name become an array.
        json_text: arguments as one JSON object, `-` for stdin, or `@FILE`. An assignment
            replaces a member with the same name.

    Raises:
        ArgumentParseError: an assignment has another form, or a value is not valid JSON or
            cannot be converted.
    """
    try:
        arguments = parse_json_object(json_text)
    except ValueError as error:
        raise ArgumentParseError(f"--arguments: {error}") from None
    problems: list[str] = []
    # Texts are collected by name before they are converted, because a repeated name is an array.
    texts: dict[str, list[str]] = {}
    json_names: set[str] = set()
    for assignment in assignments:
        match = _ASSIGNMENT.fullmatch(assignment)
        if match is None or not match["name"]:
            problems.append(
                f"`{escape_excerpt(assignment)}` is neither NAME=TEXT nor NAME:=JSON"
            )
            continue
        name, is_json = match["name"], bool(match["is_json"])
        if name in (texts if is_json else json_names):
            problems.append(
                f"`{escape_excerpt(name)}` has both a NAME=TEXT and a NAME:=JSON value"
            )
        elif not is_json:
            texts.setdefault(name, []).append(match["text"])
        else:
            json_names.add(name)
            try:
                arguments[name] = parse_json(match["text"])
            except ValueError as error:
                problems.append(f"`{escape_excerpt(name)}`: {error}")
    properties = resolve_properties(tool)
    for name, values in texts.items():
        try:
            arguments[name] = _convert(properties.get(name, {}), values)
        except ValueError as error:
            problems.append(f"`{escape_excerpt(name)}`: {error}")
    if problems:
        raise ArgumentParseError("\n".join(problems))
    return arguments


def describe_parameters(tool: Tool) -> Iterator[str]:
    """Yield a line for each parameter of a tool, such as `count=... (integer, required)`.

    Parameters that accept only objects or null have `:=` instead of `=`.
    """
    required = tool.parameters.get("required")
    for name, schema in resolve_properties(tool).items():
        types, values = list_types(schema), list_enum_values(schema)
        details = [" or ".join(types)] if types else []
        if values:
            details = ["one of " + ", ".join(values)]
        if isinstance(required, list) and name in required:
            details.append("required")
        # Without a type, a parameter accepts any JSON value, which text cannot express, unless
        # an `enum` lists the values.
        if types:
            accepts_text = any(type_ not in _JSON_TYPES for type_ in types)
        else:
            accepts_text = bool(values)
        sign = "=" if accepts_text else ":="
        yield escape_excerpt(f"{name}{sign}... ({', '.join(details) or 'any value'})")


def _convert(schema: Any, texts: Sequence[str]) -> Any:
    """Convert the texts of one parameter to a value of its schema.

    For a schema of an array, or several texts, the result is an array. A schema with
    alternatives (`anyOf`) accepts several texts if one alternative is an array.

    Raises:
        ValueError: a text cannot be converted, or there are several and no array is allowed.
    """
    if len(texts) == 1 and not is_array_schema(schema):
        return parse_value(schema, texts[0])
    for alternative in (schema, *list_alternatives(schema)):
        if is_array_schema(alternative):
            return parse_list(alternative, texts)
    raise ValueError("the parameter is passed more than once and is not an array")
