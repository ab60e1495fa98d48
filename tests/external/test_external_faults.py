"""Faults of external servers: each affects only the server's own tools and is logged."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.external.conftest import (
    CONNECTION_LOST,
    Open,
    call_tool,
    find_processes,
    odd_server,
)
from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import Registry
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external.external_tools import ExternalTools


async def test_external_server_that_dies_during_a_call_is_restarted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "toolcast")
    tools = open_tools(odd_server("well"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["echo", "die", "hang", "secret"]
    assert (await call_tool(tools, "die")).error == CONNECTION_LOST
    await wait_until_async(lambda: caplog.text.count("it offers 4 tools") == 2)
    assert (await call_tool(tools, "echo", text="back")).result == "back"
    reason = "the server's process ended; its 4 tools are not offered"
    assert f"not connected: {reason}" in caplog.text


async def test_hanging_or_cancelled_external_call_does_not_block_other_calls(
    open_tools: Open,
) -> None:
    tools = open_tools(
        odd_server("well", call_timeout=60.0), odd_server("well", prefix="b_", name="b")
    )
    await tools.list_tools()
    hanging = asyncio.ensure_future(call_tool(tools, "hang"))
    for number in range(20):
        assert (await call_tool(tools, "echo", text=str(number))).result == str(number)
    assert not hanging.done()
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert (await call_tool(tools, "echo", text="on")).result == "on"
    response = await call_tool(tools, "b_hang")
    assert response.error == "the tool did not answer within 3 s"


async def test_external_call_passes_progress_to_caller_and_cancellation_to_server(
    open_tools: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_TOKEN", "t0ken-of-the-server")
    server_log = tmp_path / "heard"
    environment = {"ODD_TOKEN": "${ODD_TOKEN}"}
    server = odd_server("well", str(server_log), call_timeout=60, env=environment)
    package = Package(tmp_path, definition("memory")).load()
    registry = Registry(package, providers=[open_tools(server)])
    reports: list[tuple[float, float | None, str | None]] = []

    async def report_progress(
        progress: float, total: float | None, message: str | None
    ) -> None:
        reports.append((progress, total, message))

    hanging = asyncio.ensure_future(
        registry.call_tool("hang", report_progress=report_progress)
    )
    await wait_until_async(lambda: len(reports) > 0 and reports[-1][0] == 2)
    assert {message for _, _, message in reports} == {r"half of it\x1b[2J [hidden]"}
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await wait_until_async(server_log.exists)


FAULTS = {
    "ending": r"process ended; its stderr: cannot \x1b[31mstart: no licence",
    "garbage": "the server sent 1000 lines that are not messages",
    "endless": "the server sent a message of more than 16 MiB",
    "pages": "the server's list of tools has more than 100 pages",
    "wrong_list": "the server's list of tools is not valid: tools: Input should be",
}
SLOW_FAULTS = {
    "silent": "the server did not answer within 1.5 s",
    "slow_list": "the server did not answer `tools/list` within 1 s",
    "bottomless": "within 5 s; stdout has lines that are not JSON-RPC (1)",
}
SLOW_ROWS = [pytest.param(*row, marks=pytest.mark.slow) for row in SLOW_FAULTS.items()]


@pytest.mark.parametrize(("mode", "message"), [*FAULTS.items(), *SLOW_ROWS])
async def test_external_server_that_fails_to_connect_or_list_is_logged_and_omitted(
    mode: str, message: str, open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    connect = 1.5 if mode == "silent" else 20.0
    # Only timeouts that are reached are short: a busy machine needs time to read the rest.
    list_timeout = {"slow_list": 1.0, "bottomless": 5.0}.get(mode, 30.0)
    faulty = odd_server(mode, connect_timeout=connect, list_timeout=list_timeout)
    tools = open_tools(faulty, odd_server("well", name="well", prefix="well_"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["well_echo", "well_die", "well_hang", "well_secret"]
    assert message in caplog.text
    assert "\x1b" not in caplog.text
    assert await tools.find_tool("echo") is None


async def test_external_server_with_missing_program_is_logged_and_omitted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = open_tools(ExternalServer("gone", command="/no/such/program"))
    assert await tools.list_tools() == ()
    message = "gone: not connected: `/no/such/program` cannot be started: No such file"
    assert message in caplog.text


async def test_external_server_stderr_flood_does_not_block_calls_or_fill_the_log(
    open_tools: Open,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    tools = open_tools(odd_server("stderr"))
    for number in range(50):
        assert (await call_tool(tools, "echo", text=str(number))).result == str(number)
    assert "noise" not in caplog.text
    assert "noise" not in capfd.readouterr().err


async def test_endless_notifications_do_not_block_calls(open_tools: Open) -> None:
    tools = open_tools(odd_server("chatty", call_timeout=50.0, list_timeout=50.0))
    assert (await call_tool(tools, "echo", text="through")).result == "through"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["progress", "tools/list_changed"])
async def test_20000_mcp_notifications_during_a_call_do_not_block_other_calls(
    kind: str, open_tools: Open
) -> None:
    tools = open_tools(odd_server("telling", f"notifications/{kind}", call_timeout=8.0))
    await tools.list_tools()
    notifying_call = asyncio.ensure_future(call_tool(tools, "hang"))
    for number in range(50):
        await asyncio.sleep(0.01)
        assert (await call_tool(tools, "echo", text=str(number))).result == str(number)
    assert (await notifying_call).error == "the tool did not answer within 8 s"


async def test_oversized_result_closes_only_the_connection_to_its_external_server(
    open_tools: Open,
) -> None:
    tools = open_tools(
        odd_server("huge"), odd_server("well", name="well", prefix="well_")
    )
    assert (await call_tool(tools, "echo", text="x")).error == CONNECTION_LOST
    assert (await call_tool(tools, "well_echo", text="x")).result == "x"


@pytest.mark.slow
async def test_external_tools_close_ends_servers_that_ignore_signals_or_hang(
    open_tools: Open, tmp_path: Path
) -> None:
    mark = str(tmp_path / "mark")
    tools = open_tools(
        odd_server("stubborn", mark, name="stubborn", prefix="a_"),
        odd_server("silent", mark, name="silent", connect_timeout=1.0, prefix="b_"),
        odd_server("stderr", mark, name="stderr", prefix="c_"),
    )
    await tools.list_tools()
    assert len(find_processes(mark)) >= 2
    await tools.close()
    assert find_processes(mark) == []


async def test_external_tools_close_ends_child_processes_and_a_later_call_restarts_the_server(
    open_tools: Open, tmp_path: Path
) -> None:
    mark, server = str(tmp_path / "mark"), odd_server("well")
    script = f'sh -c "sleep 60; :" {mark} & exec "$0" "$@"'
    args = ("-c", script, str(server.command), *server.args)
    tools = open_tools(replace(server, command="/bin/sh", args=args))
    await tools.list_tools()
    assert len(find_processes(mark)) == 1
    await tools.close()
    # The process is killed by now, but a busy machine may need time to remove it.
    await wait_until_async(lambda: find_processes(mark) == [])
    assert (await call_tool(tools, "echo", text="two")).result == "two"


def test_calls_from_several_event_loops_share_a_server_process(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    tools = ExternalTools((odd_server("well", mark),))
    try:
        for number in range(3):
            response = asyncio.run(call_tool(tools, "echo", text=str(number)))
            assert response.result == str(number)
        assert len(find_processes(mark)) == 1
    finally:
        tools.close_sync()
    assert find_processes(mark) == []


def test_local_tool_call_does_not_import_mcp_sdk_or_pydantic() -> None:
    code = (
        "import asyncio, sys\n"
        "from generated.kirishima import registry\n"
        "asyncio.run(registry.call_tool('get_personality', {}, 'internal'))\n"
        "heavy = {'mcp', 'mcp_types', 'httpx', 'httpx2', 'anyio', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True
    )
    assert process.stdout == "[]\n", process.stderr
