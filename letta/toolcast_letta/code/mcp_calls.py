"""List and call the tools of an MCP server as an agent of Letta Code would.

Needs `mcp` 2.x.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from ..plan.backend import CallOptions, CheckResult
from ..plan.desired_state import DesiredState, DesiredTool

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client import Client


class McpServerError(Exception):
    """Failure to connect to the MCP server; the message contains no secret."""


def list_offered_tools(
    url: str, headers: Mapping[str, str], timeout: float
) -> list[dict[str, Any]]:
    """Return `name`, `description` and `inputSchema` of all tools that a server lists.

    Raises:
        McpServerError: the server cannot be reached, or a request failed.
    """
    import anyio

    async def request() -> list[dict[str, Any]]:
        async with _connect(url, headers, timeout) as client:
            return await _list_all_tools(client)

    try:
        return anyio.run(request)
    # The transport and the MCP client raise many kinds of errors: report each as a
    # failed connection.
    except Exception as error:
        raise McpServerError(_format_connection_error(url, headers, error)) from None


def run_agent_checks(
    server: Mapping[str, Any],
    desired: DesiredState,
    agent: str,
    calls: CallOptions,
    timeout: float,
) -> Iterator[CheckResult]:
    """Compare the listed tools with the specs, and call the selected examples.

    All calls use one connection. A tool has a result if it is not as its spec declares,
    and if its examples are selected. If the connection fails, the only result is a
    failure without a tool's name.

    Args:
        server: the entry in the agent's list of MCP servers.
        desired: the desired state.
        agent: the agent's name.
        calls: the options that select the calls.
        timeout: the number of seconds to wait for a response.
    """
    import anyio

    url, headers = str(server.get("url")), dict(server.get("headers") or {})

    async def run() -> list[CheckResult]:
        async with _connect(url, headers, timeout) as client:
            listed = {tool["name"]: tool for tool in await _list_all_tools(client)}
            results = list(_compare_tools(desired, listed, agent))
            for name, tool in sorted(desired.tools.items()):
                if name in listed and calls.selects(tool):
                    results.append(await _check_examples(client, tool, agent, calls))
            return results

    try:
        yield from anyio.run(run)
    # The transport and the MCP client raise many kinds of errors: report each as a
    # failed check.
    except Exception as error:
        yield CheckResult(
            agent, "", "list", False, _format_connection_error(url, headers, error)
        )


def _compare_tools(
    desired: DesiredState, listed: Mapping[str, Mapping[str, Any]], agent: str
) -> Iterator[CheckResult]:
    for name, tool in sorted(desired.tools.items()):
        problem = ""
        if name not in listed:
            problem = "it is not offered"
        elif listed[name]["inputSchema"] != tool.parameters:
            problem = "its schema differs from the spec"
        elif (listed[name]["description"] or "") != tool.description:
            problem = "its description differs from the spec"
        if problem:
            yield CheckResult(agent, name, "list", False, problem)


async def _check_examples(
    client: Client, tool: DesiredTool, agent: str, calls: CallOptions
) -> CheckResult:
    reason = calls.omission_reason(tool)
    if reason:
        return CheckResult(agent, tool.name, "run", None, reason, bool(calls.tools))
    problems = await _run_examples(client, tool)
    return CheckResult.from_examples(agent, tool, "; ".join(problems))


async def _run_examples(client: Client, tool: DesiredTool) -> list[str]:
    """Call a tool's examples; return a description of each that ends unexpectedly.

    An example is declared to succeed, or to fail with an error. Results and the texts
    of errors are not compared.
    """
    problems = []
    for number, example in enumerate(tool.examples, start=1):
        result = await client.call_tool(tool.name, dict(example.get("arguments", {})))
        texts = [getattr(block, "text", "") for block in result.content]
        answer = " ".join(texts)[:200]
        if bool(result.is_error) != ("error" in example):
            kind = "failed" if result.is_error else "did not fail"
            problems.append(f"example {number}: the call {kind}: {answer}")
    return problems


async def _list_all_tools(client: Client) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        listed = [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.input_schema,
            }
            for tool in page.tools
        ]
        tools += listed
        cursor = page.next_cursor
        if cursor is None:
            return tools


@asynccontextmanager
async def _connect(
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


def _format_connection_error(
    url: str, headers: Mapping[str, str], error: BaseException
) -> str:
    """Return on one line why a connection failed, with `***` for header values."""
    # The client's task groups wrap the exception that caused the failure.
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = f"{type(error).__name__}: {error}"
    for value in headers.values():
        text = text.replace(value, "***")
    return f"the MCP server at {url} does not respond ({' '.join(text.split())[:300]})"
