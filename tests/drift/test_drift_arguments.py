"""Every advertised parameter reaches its handler, and missing arguments are errors."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.repository import own_project
from toolcast.model.loading import load_workspace
from toolcast_runtime import Tool
from toolcast_runtime.core.calls.handlers import adapt_handler


def list_tools() -> Iterator[tuple[str, Any, str | None]]:
    """Yield every tool with its toolset and a client that may call it."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    for toolset in workspace.toolsets:
        for tool in toolset.tools:
            clients = [c.name for c in toolset.clients if toolset.is_offered(tool, c)]
            yield toolset.name, tool, clients[0] if clients else None


def test_every_parameter_in_a_tools_input_schema_is_accepted_by_its_handler() -> None:
    for _, tool, _ in list_tools():
        name = str(tool.handler)
        definition = {"inputSchema": tool.parameters}
        runtime_tool = Tool(tool.name, "", "", definition, handler=name)
        handler = adapt_handler(runtime_tool, name.partition(".")[0])
        assert handler.find_rejected(tool.properties) == [], tool.name


@pytest.mark.parametrize(
    ("toolset", "tool", "client"),
    [pytest.param(*t, id=t[1].name) for t in list_tools()],
)
def test_call_tool_without_a_required_argument_fails_and_calls_no_handler(
    toolset: str, tool: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = importlib.import_module(f"generated.{toolset}.registry")
    called: list[Any] = []
    monkeypatch.setattr(registry.REGISTRY.calls, "get_handler", called.append)

    def assert_required(name: str, arguments: dict[str, Any]) -> None:
        response = asyncio.run(registry.call_tool(tool.name, arguments, client))
        assert f"`{name}` is required" in (response.error or "")

    example = dict(tool.examples[0].arguments) if tool.examples else {}
    for name in tool.required:
        assert_required(name, {key: example[key] for key in example if key != name})
    for action in tool.actions.values if tool.actions else ():
        arguments = {n: example[n] for n in tool.required if n in example}
        arguments = {**arguments, tool.actions.parameter: action.name}
        for name in action.requires:
            arguments.pop(name, None)
        for name in action.requires:
            assert_required(name, arguments)
    assert called == [], "the handler was asked for"


TOOL = """
summary: Send.
parameters:
  type: object
  required: [to]
  additionalProperties: false
  properties:
    to: {type: string}
    tenant: {type: string}
    count: {type: integer, default: 1}
handler: handlers.toy:HANDLER
"""
VALID_HANDLER = """
def NAME(*, to: str, tenant: str | None = None, count: int = 1) -> object:
    return {"to": to, "tenant": tenant, "count": count}
"""
HANDLERS = """
from typing import Any


def good(*, to: str, tenant: str = "", count: int = 1) -> object:
    return {"to": to, "tenant": tenant, "count": count}


def mapped(arguments: dict[str, Any], /) -> object:
    return arguments


def drops(*, to: str, count: int = 1) -> object:
    return to
"""


def test_argument_for_a_removed_handler_parameter_is_rejected_and_not_ignored(
    make_project: Callable[..., Any],
) -> None:
    """Ignoring the tenant would send a message to the wrong one."""
    names = ("good", "mapped", "drops")
    project = make_project(
        {name: TOOL.replace("HANDLER", name) for name in names},
        toolset="targets: {registry: {}}\n",
        handlers="".join(VALID_HANDLER.replace("NAME", name) for name in names),
    )
    project.generate()
    project.write("handlers/toy.py", HANDLERS)
    program = (
        "from generated.toy.registry import call_tool_sync as call\n"
        "print(call('good', {'to': 'a', 'tenant': 't'}).result)\n"
        "print(call('mapped', {'to': 'a'}).result)\n"
        "print(call('drops', {'to': 'a', 'tenant': 't'}).error)\n"
        "print(call('good', {}).error)\n"
    )
    lines = project.run("-c", program).stdout.split("\n")
    assert lines[:2] == ["{'to': 'a', 'tenant': 't', 'count': 1}", "{'to': 'a'}"]
    assert lines[2:4] == [
        "the arguments of `drops` are not valid:",
        "- `tenant` is not a parameter",
    ]
    assert "- `to` is required" in lines
