"""Lists and calls the tools of an MCP server as an agent of Letta Code would.

Needs `mcp` 2.x.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from ..plan.backend import Calls, Trial
from ..plan.desired_state import DesiredState, DesiredTool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client import Client


class McpServerError(Exception):
    """MCP server that does not answer; the message contains no secret."""


def offered_tools(
    url: str, headers: Mapping[str, str], timeout: float
) -> list[dict[str, Any]]:
    """The server's `tools/list`, complete.

    Raises:
        McpServerError: it gives none.
    """
    import anyio

    async def ask() -> list[dict[str, Any]]:
        async with _connected(url, headers, timeout) as client:
            return await _listed(client)

    try:
        return anyio.run(ask)
    except Exception as error:
        raise McpServerError(_reason(url, headers, error)) from None


def trials_of(
    server: Mapping[str, Any],
    desired: DesiredState,
    agent: str,
    calls: Calls,
    timeout: float,
) -> Iterator[Trial]:
    """Lists the tools, and calls their examples over one connection.

    Args:
        server: the entry of an agent's list of servers.
        desired: what it should offer.
        agent: the agent's name.
        calls: which examples are called.
        timeout: seconds that the server may take for one answer.
    """
    import anyio

    url, headers = str(server.get("url")), dict(server.get("headers") or {})

    async def run() -> list[Trial]:
        async with _connected(url, headers, timeout) as client:
            there = {tool["name"]: tool for tool in await _listed(client)}
            trials = list(_differences(desired, there, agent))
            for name, tool in sorted(desired.tools.items()):
                if name in there and calls.has(tool):
                    trials.append(await _called(client, tool, agent, calls))
            return trials

    try:
        yield from anyio.run(run)
    except Exception as error:
        yield Trial(agent, "", "list", False, _reason(url, headers, error))


def _differences(
    desired: DesiredState, there: Mapping[str, Mapping[str, Any]], agent: str
) -> Iterator[Trial]:
    for name, tool in sorted(desired.tools.items()):
        problem = ""
        if name not in there:
            problem = "it is not offered"
        elif there[name]["inputSchema"] != tool.parameters:
            problem = "it is offered with another schema"
        elif (there[name]["description"] or "") != tool.description:
            problem = "it is offered with another description"
        if problem:
            yield Trial(agent, name, "list", False, problem)


async def _called(client: Client, tool: DesiredTool, agent: str, calls: Calls) -> Trial:
    why = calls.omission_reason(tool)
    if why:
        return Trial(agent, tool.name, "run", None, why, bool(calls.tools))
    wrong = await _wrong_examples(client, tool)
    return Trial.of_examples(agent, tool, "; ".join(wrong))


async def _wrong_examples(client: Client, tool: DesiredTool) -> list[str]:
    """What is wrong with the answers to a tool's examples."""
    wrong = []
    for number, example in enumerate(tool.examples, start=1):
        result = await client.call_tool(tool.name, dict(example.get("arguments", {})))
        texts = [getattr(block, "text", "") for block in result.content]
        answer = " ".join(texts)[:200]
        if bool(result.is_error) != ("error" in example):
            kind = "failed" if result.is_error else "did not fail"
            wrong.append(f"example {number}: the call {kind}: {answer}")
    return wrong


async def _listed(client: Client) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        shown = [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.input_schema,
            }
            for tool in page.tools
        ]
        tools += shown
        cursor = page.next_cursor
        if cursor is None:
            return tools


@asynccontextmanager
async def _connected(
    url: str, headers: Mapping[str, str], timeout: float
) -> AsyncIterator[Client]:
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(
            httpx2.AsyncClient(headers=dict(headers), timeout=timeout)
        )
        transport = streamable_http_client(url, http_client=http)
        client = Client(transport, read_timeout_seconds=timeout)
        yield await stack.enter_async_context(client)


def _reason(url: str, headers: Mapping[str, str], error: BaseException) -> str:
    """Why a connection failed, in one line, without the values of headers."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = f"{type(error).__name__}: {error}"
    for value in headers.values():
        text = text.replace(value, "***")
    return f"the MCP server at {url} does not answer ({' '.join(text.split())[:300]})"
