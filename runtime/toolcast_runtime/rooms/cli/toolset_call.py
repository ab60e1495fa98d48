"""The call of a tool of a generated toolset, through its registry.

Needs `click`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...core.access.clients import AccessError, UnknownClientError
from ...core.calls.work import run_sync
from ...core.definitions.tool import Tool
from .call_once import CannotCall, OfferedTools, Request, call_once
from .closing import closing
from .progress_line import ProgressLine
from .terminal import ask_at_terminal

if TYPE_CHECKING:
    from ...core.context import ToolResponse
    from ...core.question import Answer, Question
    from ...core.registry.registry import Registry


def call_in_toolset(package: str, request: Request) -> int:
    """Calls a tool of the toolset that a package is generated for; as `call_once`.

    A person is asked at the terminal where the tool asks first.

    Raises:
        CannotCall: the package cannot be imported, or has no such client.
    """
    registry = _registry(package)
    if registry.has_clients and request.client is None:
        known = ", ".join(registry.clients)
        raise CannotCall(f"name the client: --client NAME, one of {known}")
    with closing(registry):
        return run_sync(_call(registry, package, request))


async def _call(registry: Registry, package: str, request: Request) -> int:
    client = request.client
    try:
        tools = {tool.name: tool for tool in registry.tools(client)}
        for tool in registry.local_tools:
            if tool.name in tools:
                tools |= {f: tool for f in tool.former_names if f == request.tool}
        if request.tool not in tools:
            tools = {
                **{t.name: t for t in await registry.remote_tools(client)},
                **tools,
            }
    except (AccessError, UnknownClientError) as error:
        raise CannotCall(str(error)) from None

    def problems(tool: Tool, arguments: Mapping[str, Any]) -> list[str]:
        return registry.calls.validators.problems_with_arguments(tool, arguments)

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
        return _answer(response)

    where = f"the toolset {package.rpartition('.')[2]}"
    return await call_once(OfferedTools(where, tools, problems, call), request)


def _registry(package: str) -> Registry:
    try:
        registry: Registry = import_module(f"{package}.registry").REGISTRY
    except ModuleNotFoundError as error:
        name = error.name or ""
        if f"{package}.registry.".startswith(f"{name}."):
            raise CannotCall(
                f"there is no {package}.registry\n"
                "  help: `toolcast generate` writes it; the target `registry` makes it"
            ) from None
        raise CannotCall(
            f"{package}.registry needs `{name}`, which is missing"
        ) from None
    except ImportError as error:
        raise CannotCall(f"{package}.registry cannot be imported: {error}") from None
    return registry


def _answer(response: ToolResponse) -> dict[str, Any]:
    """The CallToolResult of a response."""
    if response.error is not None:
        block = {"type": "text", "text": response.error}
        return {"content": list(response.content or [block]), "isError": True}
    if response.content is None:
        content: list[dict[str, Any]] = [{"type": "text", "text": response.text()}]
    else:
        content = [dict(block) for block in response.content]
    if isinstance(response.result, dict):
        return {"content": content, "structuredContent": response.result}
    return {"content": content}
