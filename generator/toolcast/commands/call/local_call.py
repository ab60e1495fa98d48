"""The process in which the handlers of a toolset run, for `toolcast call`.

The command itself imports nothing that was generated, and no handler; so it starts this, with
what is asked for as one JSON text. Needs `click`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from toolcast_runtime.cli.terminal import (
    ProgressLine,
    ask_at_terminal,
    closing,
    echo,
)
from toolcast_runtime.core.access import AccessError, UnknownClientError
from toolcast_runtime.core.calls.untrusted_text import escape_unprintable
from toolcast_runtime.core.calls.worker_threads import run_sync
from toolcast_runtime.core.context import ToolResponse
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.question import Answer, Question
from toolcast_runtime.core.registry import Registry

from .arguments import NOT_CALLED, CallError, OfferedTools, Request, call_once


@click.command()
@click.argument("package")
@click.argument("request")
def main(package: str, request: str) -> None:
    """Makes the call of a REQUEST in JSON to the toolset of a generated PACKAGE."""
    try:
        code = call_in_toolset(package, Request(**json.loads(request)))
    except CallError as error:
        echo(f"error: {error}", err=True)
        code = NOT_CALLED
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def call_in_toolset(package: str, request: Request) -> int:
    """Calls a tool of the toolset that a package is generated for; as `call_once`.

    A person is asked at the terminal where the tool asks first.

    Raises:
        CallError: the package cannot be imported, or has no such client.
    """
    registry = _registry(package)
    if registry.has_clients and request.client is None:
        known = ", ".join(registry.clients)
        raise CallError(f"name the client: --client NAME, one of {known}")
    with closing(registry):
        return run_sync(_call(registry, package, request))


def _registry(package: str) -> Registry:
    try:
        registry: Registry = import_module(f"{package}.registry").REGISTRY
    except ModuleNotFoundError as error:
        name = error.name or ""
        if f"{package}.registry.".startswith(f"{name}."):
            raise CallError(
                f"there is no {package}.registry\n"
                "  help: `toolcast generate` writes it; the target `registry` makes it"
            ) from None
        raise CallError(
            f"{package}.registry needs `{name}`, which is missing"
        ) from None
    except ImportError as error:
        raise CallError(f"{package}.registry cannot be imported: {error}") from None
    return registry


async def _call(registry: Registry, package: str, request: Request) -> int:
    client = request.client
    try:
        tools = {tool.name: tool for tool in registry.tools(client)}
        own = registry.resolve(request.tool or "")
        if own in tools:
            tools[request.tool or own] = tools[own]
        else:
            tools = {
                **{
                    tool.name: tool for tool in await registry.list_remote_tools(client)
                },
                **tools,
            }
    except (AccessError, UnknownClientError) as error:
        raise CallError(str(error)) from None

    def problems(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
        return registry.calls.validators.check_arguments(tool, arguments)

    async def call(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        line = ProgressLine()

        async def ask(question: Question) -> Answer:
            line.clear()
            return await ask_at_terminal(question)

        try:
            response = await registry.call_tool(
                tool.name, arguments, client, report_progress=line, ask=ask
            )
        finally:
            line.clear()
        if response.note is not None:
            echo(escape_unprintable(response.note), err=True)
        return _result(response)

    where = f"the toolset {package.rpartition('.')[2]}"
    return await call_once(OfferedTools(where, tools, problems, call), request)


def _result(response: ToolResponse) -> dict[str, Any]:
    """The CallToolResult of a response."""
    if response.error is not None:
        block = {"type": "text", "text": response.error}
        return {"content": list(response.content or [block]), "isError": True}
    content = response.content
    if content is None:
        content = [{"type": "text", "text": response.text()}]
    result: dict[str, Any] = {"content": [dict(block) for block in content]}
    if isinstance(response.result, dict):
        result["structuredContent"] = response.result
    return result


if __name__ == "__main__":
    # Click ends it well where nobody reads on.
    main()
