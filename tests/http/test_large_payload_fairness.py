"""Work on large requests and responses does not block other requests for long."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest

from generated.kirishima.mcp_server import SERVER
from tests.http.serving import rpc
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings

pytestmark = pytest.mark.slow

CALLS = 20
# A health check takes about five iterations of the event loop from connection to response.
HEALTH_CHECK_ITERATIONS = 5
# Without turns, all calls run without a break, and the longest wait is nearly all of the
# processor time. Unlike a duration, a share does not depend on the machine.
MAX_SHARE = 0.5

LARGE = {
    "text": "x" * 3_000_000,
    "names": {f"Name{number}": "value" for number in range(9_000)},
    "long names": {f"{'Ab' * 150}{number}": "v" for number in range(9_000)},
    "value name": {"name": "Ab" * 1_500_000, "value": "v"},
}


@contextlib.asynccontextmanager
async def run_client() -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of the application in this process."""
    server = replace(SERVER, external=False)
    assert server.http is not None
    app = build_http_app(
        server, ListenSettings.from_environment(server.http, "127.0.0.1", {})
    )
    async with app.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        base = "http://localhost"
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            yield client


@contextlib.asynccontextmanager
async def measure_waits() -> AsyncIterator[list[float]]:
    """Yield the waits of health checks in seconds of processor time, sorted at the end."""
    waits = [0.0]

    async def watch() -> None:
        while True:
            start = time.thread_time()
            for _ in range(HEALTH_CHECK_ITERATIONS):
                await asyncio.sleep(0)
            waits.append(time.thread_time() - start)
            await asyncio.sleep(0.001)

    watching = asyncio.create_task(watch())
    yield waits
    watching.cancel()
    waits.sort()


def make_request(
    client: httpx.AsyncClient, tool: str, arguments: Any, *, modern: bool
) -> httpx.Request:
    params = {"name": tool, "arguments": arguments}
    body, headers = rpc("tools/call", params, modern=modern)
    return client.build_request("POST", "/mcp/", content=body, headers=headers)


async def call_in_parallel(
    tool: str, arguments: Any, *, modern: bool
) -> tuple[list[str], float]:
    """Call a tool in parallel; return the responses and the longest wait's share of the time.

    The clients share the event loop with the server, so their requests are built before the
    wait is measured, and their responses are decoded after it.
    """
    async with run_client() as client:
        await client.send(make_request(client, tool, {}, modern=modern))
        requests = [
            make_request(client, tool, arguments, modern=modern) for _ in range(CALLS)
        ]
        async with measure_waits() as waits:
            answers = await asyncio.gather(*map(client.send, requests))
            share = max(waits) / sum(waits)
    return [answer.text for answer in answers], share


@pytest.mark.parametrize(("modern", "case"), [*zip(cycle([False, True]), LARGE)])
async def test_tool_calls_with_large_arguments_block_event_loop_under_half_the_time(
    case: str, modern: bool
) -> None:
    arguments = {"action": "create", "memory": LARGE[case]}
    answers, share = await call_in_parallel("memory", arguments, modern=modern)
    assert all("are not valid" in answer for answer in answers)
    assert share < MAX_SHARE


@pytest.mark.parametrize("modern", [False, True])
async def test_tool_calls_with_large_results_block_event_loop_under_half_the_time(
    modern: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guide = tmp_path / "guide.toml"
    tone = "x" * 3_000_000
    guide.write_text(
        "version = '1'\ninstructions = 'x'\n[styles.default]\nformatting = 'prose'\n"
        f"on_failure = 'say so'\ntone = '{tone}'\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("KIRISHIMA_STYLE_GUIDE", str(guide))
    answers, share = await call_in_parallel("get_personality", {}, modern=modern)
    assert all(tone in answer for answer in answers)
    assert share < MAX_SHARE
