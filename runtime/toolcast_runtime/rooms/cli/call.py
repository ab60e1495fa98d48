"""One call by hand: the tool is found, its arguments are checked, its answer is shown.

It is the same for a toolset's tool, which `__main__` calls, and for one of any MCP server.
Needs `click`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from ...core.calls.untrusted_text import escaped
from ...core.definitions.tool import Tool
from .answers import echo, print_answer_to_call, raw_json
from .words import (
    WrongWords,
    arguments_of,
    likely,
    problems_with,
    properties_of,
    usage,
)

OK, FAILED, UNUSABLE = 0, 1, 2
_MOST_LISTED = 60


class CannotCall(Exception):
    """There is nothing to call. The text is whole, and its strangers' parts are escaped."""


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
        arguments = arguments_of(tool, request.words, request.json_text)
    except WrongWords as wrong:
        return _refused(tool, str(wrong).split("\n"))
    problems = problems_with(arguments, lambda all_: offered.problems(tool, all_))
    if problems:
        return _refused(tool, [*problems, *_misspelt(tool, arguments, problems)])
    answer = await offered.call(tool, arguments)
    if request.is_json:
        click.echo(raw_json(answer))
        return FAILED if answer.get("isError") else OK
    is_done = print_answer_to_call(answer, tool.name, request.folder)
    return OK if is_done else FAILED


def _unknown(offered: OfferedTools, name: str | None) -> int:
    names = sorted(offered.tools)
    if name is None:
        echo(f"error: name the tool; {offered.where} has:", err=True)
    else:
        meant = likely(name, names)
        hint = f"; did you mean `{escaped(meant)}`?" if meant else ""
        echo(f"error: {offered.where} has no tool `{escaped(name)}`{hint}", err=True)
        if meant is not None:
            return UNUSABLE
    for one in names[:_MOST_LISTED]:
        summary = escaped(offered.tools[one].summary, 60)
        echo(f"  {escaped(one)}{f'  {summary}' if summary else ''}", err=True)
    if len(names) > _MOST_LISTED:
        echo(f"  and {len(names) - _MOST_LISTED} more", err=True)
    return UNUSABLE


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
        echo(f"error: {escaped(problem, 1000)}", err=True)
    lines = list(usage(tool))
    echo(
        f"  help: `{escaped(tool.name)}` takes{':' if lines else ' no arguments'}",
        err=True,
    )
    for line in lines[:_MOST_LISTED]:
        echo(f"    {line}", err=True)
    echo("  nothing was called", err=True)
    return UNUSABLE
