"""Every advertised parameter reaches its handler, and missing arguments are errors."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.repository import own_project
from toolcast.model.loading import load_workspace


def list_tools() -> Iterator[Any]:
    """Yield every tool with its toolset and a client that may call it."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    for toolset in workspace.toolsets:
        for tool in toolset.tools:
            clients = [c.name for c in toolset.clients if toolset.is_offered(tool, c)]
            client = clients[0] if clients else None
            yield pytest.param(toolset.name, tool, client, id=tool.name)


@pytest.mark.parametrize(("toolset", "tool", "client"), list(list_tools()))
def test_every_parameter_in_a_tools_input_schema_is_accepted_by_its_handler(
    toolset: str, tool: Any, client: Any
) -> None:
    from toolcast_runtime import Tool
    from toolcast_runtime.core.calls.handlers import adapt_handler

    package = str(tool.handler).partition(".")[0]
    definition = {"inputSchema": tool.parameters}
    runtime_tool = Tool(tool.name, "", "", definition, handler=str(tool.handler))
    handler = adapt_handler(runtime_tool, package)
    assert handler.find_rejected(tool.properties) == []


@pytest.mark.parametrize(("toolset", "tool", "client"), list(list_tools()))
def test_call_tool_without_a_required_argument_fails_and_calls_no_handler(
    toolset: str, tool: Any, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = importlib.import_module(f"generated.{toolset}.registry")
    called: list[Any] = []
    monkeypatch.setattr(registry.REGISTRY.calls, "get_handler", called.append)
    for name in tool.required:
        example = dict(tool.examples[0].arguments) if tool.examples else {}
        example.pop(name, None)
        response = asyncio.run(registry.call_tool(tool.name, example, client))
        assert f"`{name}` is required" in (response.error or "")
    for action in tool.actions.values if tool.actions else ():
        if action.requires:
            example = tool.examples[0].arguments if tool.examples else {}
            required_arguments = {n: example[n] for n in tool.required if n in example}
            arguments = {**required_arguments, tool.actions.parameter: action.name}
            for name in action.requires:
                arguments.pop(name, None)
            response = asyncio.run(registry.call_tool(tool.name, arguments, client))
            for name in action.requires:
                assert f"`{name}` is required" in (response.error or "")
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


def drift_project(make_project: Callable[..., Any], names: tuple[str, ...]) -> Any:
    """Generate a project with valid handlers, and replace the handlers afterwards."""
    project = make_project(
        {name: TOOL.replace("HANDLER", name) for name in names},
        toolset="targets: {registry: {}}\n",
        handlers="".join(VALID_HANDLER.replace("NAME", name) for name in names),
    )
    project.generate()
    project.write("handlers/toy.py", HANDLERS)
    return project


def test_argument_for_a_removed_handler_parameter_is_rejected_and_not_ignored(
    make_project: Callable[..., Any],
) -> None:
    """Ignoring the tenant would send a message to the wrong one."""
    names = ("good", "mapped", "drops")
    project = drift_project(make_project, names)
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
