"""Recovery of stdio connections: restarts of hanging servers, and kept connections."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.external.conftest import WAIT_TIMEOUT_S, Open, odd_server
from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import Registry
from toolcast_runtime.external import session


@pytest.mark.rows(1)
@pytest.mark.parametrize("is_proxied", [True, False], ids=["proxied", "listed"])
async def test_hanging_stdio_server_is_restarted_after_two_timeouts(
    open_tools: Open,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    is_proxied: bool,
) -> None:
    monkeypatch.setattr(session, "_PING_TIMEOUT_S", 0.5)
    server = odd_server("freezing", name="up", is_proxied=is_proxied, call_timeout=0.5)
    tools = open_tools(server)
    # A call of `echo` may take as long as the start of the server.
    timeouts = {"echo": 10, "freeze": 0.5} if is_proxied else {"own": 0.5}
    specs = [definition(n, proxy="up", timeout=t) for n, t in timeouts.items()]
    registry = Registry(Package(tmp_path, *specs).load(), providers=[tools])
    assert (await registry.call_tool("echo", {"text": "a"})).result == "a"
    for _ in range(2):
        assert "0.5 s" in str((await registry.call_tool("freeze", {})).error)
    await wait_until_async(lambda: "2 calls and a ping got no answer" in caplog.text)
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        while (await registry.call_tool("echo", {"text": "b"})).result != "b":
            await asyncio.sleep(0.05)
    assert caplog.text.count("it is restarted") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "mode"),
    [
        ("asleep", "newest"),
        ("stopped", "well"),
        ("deaf", "newest"),
        ("with a child", "well"),
        ("half a line", "newest"),
        ("noisy", "well"),
    ],
)
async def test_stdio_server_is_restarted_after_each_hang_kind(
    open_tools: Open,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    how: str,
    mode: str,
) -> None:
    """The calls come at once or one by one, and may be too long for the server's pipe."""
    monkeypatch.setattr(session, "_PING_TIMEOUT_S", 0.5)
    tools = open_tools(odd_server(mode, name="up", is_proxied=True))
    timeouts = {"answer": 20, "freeze": 0.5, "echo": 0.5}
    specs = [definition(n, proxy="up", timeout=t) for n, t in timeouts.items()]
    registry = Registry(Package(tmp_path, *specs).load(), providers=[tools])
    content = [{"type": "text", "text": "a"}]
    result = {"resultType": "complete", "content": content}
    for number, long_calls in ((1, 3), (2, 1)):
        answer = await registry.call_tool("answer", {"result": result})
        assert answer.result == "a"
        calls = [("freeze", how), *[("echo", "x" * 300_000)] * long_calls]
        pending = [registry.call_tool(name, {"text": text}) for name, text in calls]
        if number == 1:
            failed = await asyncio.gather(*pending)
        else:
            failed = [await call for call in pending]
        assert not any(answer.success for answer in failed)
        async with asyncio.timeout(WAIT_TIMEOUT_S):
            while caplog.text.count("it is restarted") < number:
                await asyncio.sleep(0.05)
    async with asyncio.timeout(WAIT_TIMEOUT_S):
        while not (await registry.call_tool("answer", {"result": result})).success:
            await asyncio.sleep(0.05)


async def test_stdio_server_that_answers_pings_or_error_32000_is_not_restarted(
    open_tools: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """An error response to `ping` is an answer, too: only the tool `hang` hangs."""
    # The other calls may take as long as the start of the server.
    timeouts = {"hang": 0.3, "echo": 10, "answer": 10}
    specs = [definition(n, proxy="up", timeout=t) for n, t in timeouts.items()]
    tools = open_tools(odd_server("well", name="up", is_proxied=True))
    registry = Registry(Package(tmp_path, *specs).load(), providers=[tools])
    # The SDK uses this code for a closed connection, and servers use it for tool errors.
    error = {"error": {"code": -32000, "message": "the printer is off"}}
    answer = await registry.call_tool("answer", error)
    assert answer.error == "the tool's server rejected the request: the printer is off"
    await asyncio.gather(*(registry.call_tool("hang", {}) for _ in range(6)))
    assert (await registry.call_tool("echo", {"text": "a"})).result == "a"
    assert "external server up: " not in caplog.text
