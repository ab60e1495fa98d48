"""Program that runs a tool's handler for `toolcast call`, in a process of its own.

`toolcast call` itself imports no generated code and no handlers. It starts this program with
the call as a JSON argument. Requires `click`.
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
    closing_registry,
    echo,
    redirect_handler_output,
    report_output_errors,
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
    """Call a tool of the toolset in PACKAGE; REQUEST is a `Request` as JSON."""
    try:
        with report_output_errors(NOT_CALLED):
            code = call_in_toolset(package, Request(**json.loads(request)))
    except CallError as error:
        echo(f"error: {error}", err=True)
        code = NOT_CALLED
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def call_in_toolset(package: str, request: Request) -> int:
    """Call a tool of a toolset, and return the exit code of `call_once`.

    If the tool requires a confirmation, the user is asked at the terminal.

    Args:
        package: the name of the toolset's generated package.

    Raises:
        CallError: the package cannot be imported, or the client does not exist or is
            missing.
    """
    registry = _import_registry(package)
    if registry.has_clients and request.client is None:
        clients = ", ".join(registry.clients)
        raise CallError(
            f"the toolset has clients\n  help: add `--client` with one of {clients}"
        )
    with closing_registry(registry):
        return run_sync(_call(registry, package, request))


def _import_registry(package: str) -> Registry:
    try:
        with redirect_handler_output():
            registry: Registry = import_module(f"{package}.registry").REGISTRY
    except ModuleNotFoundError as error:
        name = error.name or ""
        # The missing module is the registry or one of its parent packages, not a module that
        # the registry imports.
        if f"{package}.registry.".startswith(f"{name}."):
            raise CallError(
                f"there is no {package}.registry\n"
                "  help: add the target `registry`, and run `toolcast generate`"
            ) from None
        raise CallError(
            f"{package}.registry requires the module `{name}`, which is not installed"
        ) from None
    except ImportError as error:
        raise CallError(f"{package}.registry cannot be imported: {error}") from None
    return registry


async def _call(registry: Registry, package: str, request: Request) -> int:
    """Make the call with `call_once`, and return its exit code.

    Raises:
        CallError: the client does not exist or has no access.
    """
    client = request.client
    try:
        tools = {tool.name: tool for tool in registry.tools(client)}
        # The user may have typed a previous name of the tool (`renamed_from`).
        current_name = registry.resolve(request.tool or "")
        if current_name in tools:
            tools[request.tool or current_name] = tools[current_name]
        # Listing the tools of external servers connects to them, so it is done only if the
        # toolset itself has no such tool.
        else:
            remote_tools = await registry.list_remote_tools(client)
            tools = {**{tool.name: tool for tool in remote_tools}, **tools}
    except (AccessError, UnknownClientError) as error:
        raise CallError(str(error)) from None

    def check(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
        return registry.calls.validators.check_arguments(tool, arguments)

    async def call(tool: Tool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        line = ProgressLine()

        async def ask(question: Question) -> Answer:
            line.clear()
            return await ask_at_terminal(question)

        try:
            with redirect_handler_output():
                response = await registry.call_tool(
                    tool.name, arguments, client, report_progress=line, ask=ask
                )
        finally:
            line.clear()
        if response.note is not None:
            echo(escape_unprintable(response.note), err=True)
        return _build_result(response)

    owner = f"the toolset {package.rpartition('.')[2]}"
    return await call_once(OfferedTools(owner, tools, check, call), request)


def _build_result(response: ToolResponse) -> dict[str, Any]:
    """Convert a response of the registry to the form of MCP's `CallToolResult`."""
    if response.error is not None:
        block = {"type": "text", "text": response.error}
        failure = {"content": list(response.content or [block]), "isError": True}
        if isinstance(response.result, dict):
            failure["structuredContent"] = response.result
        return failure
    content = response.content
    if content is None:
        content = [{"type": "text", "text": response.text()}]
    result: dict[str, Any] = {"content": [dict(block) for block in content]}
    if isinstance(response.result, dict):
        result["structuredContent"] = response.result
    return result


if __name__ == "__main__":
    # Click ends the program without a traceback if stdout is closed, as by a pipe to `head`.
    main()
