"""The generated `call` function of a tool: typed results, and errors raised."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ADD = """
summary: Add.
parameters:
  type: object
  additionalProperties: false
  required: [one]
  properties: {one: {type: integer}, two: {type: integer}}
returns: {type: object, required: [sum], properties: {sum: {type: integer}}}
handler: handlers.toy:add
"""
PAGE = """
summary: Show a page.
parameters: {type: object, properties: {page-size: {type: integer}}}
handler: handlers.toy:page
"""
TARGETS = "targets: {registry: {}}\n"
HANDLERS = """
from toolcast_runtime import ToolError, ToolResponse


def add(*, one, two=0):
    if one < 0:
        raise ToolError("Only counts are added.")
    return {"sum": one + two}


def page(arguments: dict):
    text = str(arguments.get("page-size"))
    return ToolResponse(content=[{"type": "text", "text": text}])
"""
PROGRAM = """
import asyncio
from generated.toy.tools import add, page
from toolcast_runtime import ToolError

async def main():
    print(await add.call(CLIENTone=1, two=2))
    print(await page.call(CLIENT{"page-size": 5}))
    for wrong in ({"one": -1}, {"one": "a"}):
        try:
            await add.call(CLIENT**wrong)
        except ToolError as error:
            print(error)

asyncio.run(main())
"""
EXPECTED_OUTPUT = """\
{'sum': 3}
[{'type': 'text', 'text': '5'}]
Only counts are added.
the arguments of `add` are not valid:
"""


def test_generated_call_returns_the_result_and_raises_tool_error_for_an_error(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        {"add": ADD, "page": PAGE}, toolset=TARGETS, handlers=HANDLERS
    )
    project.generate()
    ended = project.run("-c", PROGRAM.replace("CLIENT", ""))
    assert ended.stdout.startswith(EXPECTED_OUTPUT), ended.stderr


def test_generated_call_with_clients_has_the_client_as_first_argument(
    make_project: Callable[..., Any],
) -> None:
    """A tool that the client may not use is an unknown tool."""
    clients = "clients: {team: {allow: [add, page]}, guest: {allow: [page]}}\n"
    project = make_project(
        {"add": ADD, "page": PAGE}, toolset=TARGETS + clients, handlers=HANDLERS
    )
    project.generate()
    program = PROGRAM.replace("CLIENT", '"team", ')
    program += "asyncio.run(add.call('guest', one=1))\n"
    ended = project.run("-c", program)
    assert ended.stdout.startswith(EXPECTED_OUTPUT), ended.stderr
    assert "ToolError: unknown tool `add`" in ended.stderr
