"""One call by hand: the tool is found, its arguments are checked, its answer is shown.

It is the same for a toolset's tool and for one of any MCP server. Needs `click`.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from toolcast_runtime.cli.arguments import (
    choices,
    json_object,
    json_value,
    likely,
    list_value,
    members,
    problems_with,
    properties_of,
    takes_list,
    to_value,
    types_of,
)
from toolcast_runtime.cli.terminal import echo
from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import Tool

from .result_format import format_raw_json, print_call_result

OK, FAILED, NOT_CALLED = 0, 1, 2
_MAX_LISTED = 60
"""Tools, or parameters, that an error message lists."""
_WORD = re.compile(r"(?P<name>[^=]*?)(?P<is_json>:?)=(?P<text>.*)", re.DOTALL)
_OF_JSON = ("object", "null")


class CallError(Exception):
    """Call that cannot be sent, because of the package, the server or the client's name.

    The message is complete; text from other parties in it is escaped.
    """


@dataclass(frozen=True, slots=True)
class Request:
    """What the person asks for.

    Attributes:
        tool: the tool's name; None lists the names.
        words: `NAME=TEXT` and `NAME:=JSON`.
        json_text: the arguments as one JSON object; `-` and `@FILE` are read.
        client: whom the call is made as.
        is_json: the answer is printed as it is.
        folder: where files of the answer are written.
    """

    tool: str | None
    words: Sequence[str] = ()
    json_text: str | None = None
    client: str | None = None
    is_json: bool = False
    folder: str = "."


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """The tools that can be called.

    Attributes:
        where: what has them, for messages: `the toolset molecule`.
        tools: by their names.
        problems: what is wrong with the arguments of a call.
        call: the CallToolResult of a call.
    """

    where: str
    tools: Mapping[str, Tool]
    problems: Callable[[Tool, Mapping[str, Any]], Sequence[str]]
    call: Callable[[Tool, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


async def call_once(offered: OfferedTools, request: Request) -> int:
    """Makes the call and prints its answer.

    Returns:
        0 for an answer, 1 where the tool failed, 2 where nothing was called.
    """
    tool = offered.tools.get(request.tool or "")
    if tool is None:
        return _unknown(offered, request.tool)
    try:
        arguments = parse_arguments(tool, request.words, request.json_text)
    except ArgumentParseError as wrong:
        return _refused(tool, str(wrong).split("\n"))
    problems = problems_with(arguments, lambda all_: offered.problems(tool, all_))
    if problems:
        return _refused(tool, [*problems, *_misspelt(tool, arguments, problems)])
    answer = await offered.call(tool, arguments)
    if request.is_json:
        click.echo(format_raw_json(answer))
        return FAILED if answer.get("isError") else OK
    is_done = print_call_result(answer, tool.name, request.folder)
    return OK if is_done else FAILED


def _unknown(offered: OfferedTools, name: str | None) -> int:
    names = sorted(offered.tools)
    if name is None:
        _say(f"error: name the tool; {offered.where} has:")
    else:
        meant = likely(name, names)
        hint = f"; did you mean `{escape_excerpt(meant)}`?" if meant else ""
        _say(f"error: {offered.where} has no tool `{escape_excerpt(name)}`{hint}")
        if meant is not None:
            return NOT_CALLED
    for one in names[:_MAX_LISTED]:
        summary = escape_excerpt(offered.tools[one].summary, 60)
        _say(f"  {escape_excerpt(one)}{f'  {summary}' if summary else ''}")
    if len(names) > _MAX_LISTED:
        _say(f"  and {len(names) - _MAX_LISTED} more")
    return NOT_CALLED


def _misspelt(
    tool: Tool, arguments: Mapping[str, Any], problems: Sequence[str]
) -> Iterator[str]:
    """Names that the schema takes as they are, and that were meant for another one."""
    named = properties_of(tool)
    for name in arguments:
        meant = None if name in named else likely(name, named)
        if meant is not None and not any(f"`{name}`" in one for one in problems):
            yield f"`{name}` is none of its parameters; did you mean `{meant}`?"


def _refused(tool: Tool, problems: Sequence[str]) -> int:
    for problem in problems:
        _say(f"error: {escape_excerpt(problem, 1000)}")
    lines = list(describe_parameters(tool))
    _say(
        f"  help: `{escape_excerpt(tool.name)}` takes{':' if lines else ' no arguments'}"
    )
    for line in lines[:_MAX_LISTED]:
        _say(f"    {line}")
    _say("  nothing was called")
    return NOT_CALLED


def _say(line: str) -> None:
    echo(line, err=True)


class ArgumentParseError(ValueError):
    """Invalid tool arguments on the command line; the message has a line for each."""


def parse_arguments(
    tool: Tool, words: Sequence[str], json_text: str | None
) -> dict[str, Any]:
    """The arguments that `NAME=TEXT` and `NAME:=JSON` give, by the schemas of the parameters.

    Args:
        tool: whose call it is.
        words: a name again adds to a list; `:=` takes a value of any kind.
        json_text: the arguments as one JSON object, to which the words add.

    Raises:
        ArgumentParseError: a word is neither, or its value is not what it has to be.
    """
    try:
        arguments = json_object(json_text)
    except ValueError as error:
        raise ArgumentParseError(f"--arguments: {error}") from None
    wrong: list[str] = []
    texts: dict[str, list[str]] = {}
    for word in words:
        found = _WORD.fullmatch(word)
        if found is None or not found["name"]:
            wrong.append(
                f"`{escape_excerpt(word)}` is neither NAME=TEXT nor NAME:=JSON"
            )
        elif not found["is_json"]:
            texts.setdefault(found["name"], []).append(found["text"])
        elif found["name"] in texts:
            wrong.append(f"`{escape_excerpt(found['name'])}` is given in both forms")
        else:
            try:
                arguments[found["name"]] = json_value(found["text"])
            except ValueError as error:
                wrong.append(f"`{escape_excerpt(found['name'])}`: {error}")
    properties = properties_of(tool)
    for name, several in texts.items():
        try:
            arguments[name] = _value_of(properties.get(name, {}), several)
        except ValueError as error:
            wrong.append(f"`{escape_excerpt(name)}`: {error}")
    if wrong:
        raise ArgumentParseError("\n".join(wrong))
    return arguments


def describe_parameters(tool: Tool) -> Iterator[str]:
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
        yield escape_excerpt(f"{name}{sign}... ({', '.join(told) or 'any value'})")


def _value_of(schema: Any, texts: Sequence[str]) -> Any:
    """A text as a value, or several as a list, which may be one of what a schema names."""
    if len(texts) == 1 and not takes_list(schema):
        return to_value(schema, texts[0])
    for one in (schema, *members(schema)):
        if takes_list(one):
            return list_value(one, texts)
    raise ValueError("it is given more than once, and is no list")
