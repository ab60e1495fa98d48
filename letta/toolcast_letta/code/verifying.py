"""Verifies Letta Code's settings: what they say, and whether the server that they name works.

Needs `mcp` 2.x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..server.desired_state import Attachment, ToolWish
from .plan import CodePlan
from .settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client import Client

__all__ = ["CodeVerdict", "ServerFailed", "offered_tools", "verify_code"]


class ServerFailed(Exception):
    """The MCP server does not answer; the text holds no secret."""


@dataclass(frozen=True)
class CodeVerdict:
    """What was found.

    Attributes:
        offered: the number of tools that the server offers the agents.
        called: the tools whose examples were called, and answered as they say.
        not_called: tools with examples that were not called, with the reason.
        problems: everything that is not as the specs say.
    """

    offered: int
    called: tuple[str, ...] = ()
    not_called: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def all_match(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """For machines, with the words that Letta's users know."""
        return {
            "all_match": self.all_match,
            "offered_count": self.offered,
            "called": list(self.called),
            "not_called": dict(self.not_called),
            "problems": list(self.problems),
        }


def offered_tools(
    url: str, headers: Mapping[str, str], timeout: float
) -> list[dict[str, Any]]:
    """The server's `tools/list`, complete.

    Raises:
        ServerFailed: it gives none.
    """
    import anyio

    async def ask() -> list[dict[str, Any]]:
        async with _connected(url, headers, timeout) as client:
            return await _listed(client)

    try:
        return anyio.run(ask)
    except Exception as error:
        raise ServerFailed(_reason(url, headers, error)) from None


def verify_code(
    settings: Settings,
    wish: Attachment,
    plan: CodePlan,
    *,
    timeout: float = 60.0,
    call: bool = True,
    call_changing: bool = False,
    only: Sequence[str] = (),
) -> CodeVerdict:
    """Lists the server's tools as each agent would, and calls their examples.

    Args:
        settings: as they are now.
        wish: what the toolset wants.
        plan: what is still to be done; it must be nothing.
        timeout: seconds that the server may take for one answer.
        call: whether examples are called.
        call_changing: also those of tools that change data.
        only: call only these tools' examples.
    """
    import anyio

    problems = [
        f"{change.agent}: {change.action} {change.name} ({change.detail}) is not applied"
        for change in plan.changes
    ]
    problems += [objection.message for objection in plan.objections]
    results: list[CodeVerdict] = []
    for agent in plan.agents:
        named = [
            one
            for one in settings.servers(agent.id, agent.backend)
            if one.get("name") == wish.server_name
        ]
        if not named:
            continue
        url, headers = str(named[0].get("url")), dict(named[0].get("headers") or {})
        check = _Check(wish, call, call_changing, tuple(only))
        try:
            results.append(anyio.run(check.run, url, headers, timeout))
        except Exception as error:
            problems.append(f"{agent.name}: {_reason(url, headers, error)}")
    problems += [problem for one in results for problem in one.problems]
    first = results[0] if results else CodeVerdict(0)
    return CodeVerdict(
        first.offered,
        first.called,
        first.not_called,
        tuple(dict.fromkeys(problems)),
    )


@dataclass(frozen=True)
class _Check:
    """Lists and calls over one connection."""

    wish: Attachment
    call: bool
    call_changing: bool
    only: tuple[str, ...]

    async def run(
        self, url: str, headers: Mapping[str, str], timeout: float
    ) -> CodeVerdict:
        async with _connected(url, headers, timeout) as client:
            there = {tool["name"]: tool for tool in await _listed(client)}
            problems = list(self._differences(there))
            called, not_called = [], {}
            for name, tool in sorted(self.wish.tools.items()):
                if not tool.examples or name not in there:
                    continue
                reason = self._reason_against(tool)
                if reason is not None:
                    not_called[name] = reason
                    continue
                wrong = await _wrong_examples(client, tool)
                problems += wrong
                if not wrong:
                    called.append(name)
        return CodeVerdict(len(there), tuple(called), not_called, tuple(problems))

    def _differences(self, there: Mapping[str, Mapping[str, Any]]) -> list[str]:
        found = []
        for name, tool in self.wish.tools.items():
            if name not in there:
                found.append(f"the server does not offer {name}")
                continue
            if there[name].get("inputSchema") != tool.parameters:
                found.append(f"the server offers {name} with another schema")
            if (there[name].get("description") or "") != tool.description:
                found.append(f"the server offers {name} with another description")
        return found

    def _reason_against(self, tool: ToolWish) -> str | None:
        if not self.call:
            return "no calls were wanted"
        if self.only and tool.name not in self.only:
            return "another tool was named"
        if tool.changes_data and not self.call_changing:
            return "it changes data; --call-changing calls it"
        return None


async def _wrong_examples(client: Client, tool: ToolWish) -> list[str]:
    """What is wrong with the answers to a tool's examples."""
    wrong = []
    for number, example in enumerate(tool.examples, start=1):
        result = await client.call_tool(tool.name, dict(example.get("arguments", {})))
        texts = [getattr(block, "text", "") for block in result.content]
        said = " ".join(texts)[:200]
        if bool(result.is_error) != ("error" in example):
            kind = "failed" if result.is_error else "did not fail"
            wrong.append(f"{tool.name}, example {number}: the call {kind}: {said}")
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
