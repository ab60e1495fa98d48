"""A server that misbehaves costs its own tools, within its deadlines, and says so."""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.external.conftest import (
    LOST,
    Open,
    call,
    odd,
    processes,
    until,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external import connection


async def test_a_server_that_dies_in_mid_call_comes_back(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "toolcast")
    tools = opened(odd("well"))
    assert [tool.name for tool in await tools.list_tools()] == [
        "echo",
        "die",
        "hang",
        "secret",
    ]
    assert (await call(tools, "die")).error == LOST
    await until(lambda: caplog.text.count("it offers 4 tools") == 2)
    assert (await call(tools, "echo", text="back")).result == "back"
    assert (
        "not connected: the server's process ended; its 4 tools are not offered"
        in caplog.text
    )


async def test_a_call_that_hangs_ends_at_its_deadline_and_no_other_call_waits(
    opened: Open,
) -> None:
    tools = opened(odd("well", call_timeout=1.5))
    await tools.list_tools()
    hanging = asyncio.ensure_future(call(tools, "hang"))
    for number in range(20):
        assert (await call(tools, "echo", text=str(number))).result == str(number)
    assert not hanging.done()
    assert (await hanging).error == "the tool did not answer within 1.5 s"


async def test_a_call_that_is_cancelled_is_over_at_once(opened: Open) -> None:
    tools = opened(odd("well", call_timeout=60))
    await tools.list_tools()
    hanging = asyncio.ensure_future(call(tools, "hang"))
    await asyncio.sleep(0.1)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert (await call(tools, "echo", text="on")).result == "on"


async def test_how_far_the_server_is_and_who_has_gone_are_passed_on(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODD_TOKEN", "t0ken-of-the-server")
    heard = tmp_path / "heard"
    environment = {"ODD_TOKEN": "${ODD_TOKEN}"}
    server = odd("well", str(heard), call_timeout=60, env=environment)
    package = Package(tmp_path, definition("memory")).load()
    registry = Registry(package, providers=[opened(server)])
    told: list[tuple[float, float | None, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    calling = registry.call_tool("hang", report_progress=tell)
    hanging = asyncio.ensure_future(calling)
    await until(lambda: len(told) > 0 and told[-1][0] == 2)
    assert {message for _, _, message in told} == {r"half of it\x1b[2J [hidden]"}
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    await until(heard.exists)


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (
            "ending",
            r"the server's process ended; its stderr: cannot \x1b[31mstart: no licence",
        ),
        ("garbage", "the server sent 1000 lines that are not messages"),
        ("endless", "the server sent a message of more than 16 MiB"),
        pytest.param(
            "silent", "the server did not answer within 1.5 s", marks=pytest.mark.slow
        ),
        pytest.param(
            "slow_list",
            "the server did not answer `tools/list` within 1 s",
            marks=pytest.mark.slow,
        ),
        ("pages", "the server's list of tools has more than 100 pages"),
        (
            "wrong_list",
            "the server's list of tools is not valid: tools: Input should be",
        ),
        pytest.param(
            "bottomless",
            "within 5 s; stdout has lines that are not JSON-RPC (1)",
            marks=pytest.mark.slow,
        ),
    ],
)
async def test_a_server_that_never_gets_ready_is_left_out(
    mode: str, said: str, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    connect = 1.5 if mode == "silent" else 20.0
    # Only what is said of a deadline needs a short one; a busy machine needs time to read.
    listed = {"slow_list": 1.0, "bottomless": 5.0}.get(mode, 30.0)
    faulty = odd(mode, connect_timeout=connect, list_timeout=listed)
    tools = opened(faulty, odd("well", name="well", prefix="well_"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["well_echo", "well_die", "well_hang", "well_secret"]
    assert said in caplog.text
    assert "\x1b" not in caplog.text
    assert await tools.find_tool("echo") is None


async def test_a_program_that_is_not_there_is_left_out(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(ExternalServer("gone", command="/no/such/program"))
    assert await tools.list_tools() == ()
    said = "gone: not connected: `/no/such/program` cannot be started: No such file"
    assert said in caplog.text


async def test_the_pauses_between_attempts_double_up_to_a_minute(
    opened: Open, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    hasty = SimpleNamespace(**{**vars(asyncio), "sleep": lambda _: asyncio.sleep(0)})
    monkeypatch.setattr(connection, "asyncio", hasty)
    monkeypatch.setattr(connection.random, "uniform", lambda _, most: most)
    await opened(ExternalServer("gone", command="/no/such/program")).list_tools()
    await until(lambda: caplog.text.count("next attempt") >= 8)
    pauses = re.findall(r"next attempt in ([\d.]+) s", caplog.text)
    assert pauses[:8] == "1.0 2.0 4.0 8.0 16.0 32.0 60.0 60.0".split()


async def test_noise_on_stderr_neither_blocks_nor_reaches_the_log(
    opened: Open, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    tools = opened(odd("stderr"))
    for number in range(50):
        assert (await call(tools, "echo", text=str(number))).result == str(number)
    assert "noise" not in caplog.text
    assert "noise" not in capfd.readouterr().err


async def test_endless_notifications_leave_the_calls_alone(opened: Open) -> None:
    tools = opened(odd("chatty", call_timeout=50.0, list_timeout=50.0))
    assert (await call(tools, "echo", text="through")).result == "through"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["progress", "message", "tools/list_changed"])
async def test_twenty_thousand_messages_of_a_call_keep_no_other_waiting(
    kind: str, opened: Open
) -> None:
    tools = opened(odd("telling", f"notifications/{kind}", call_timeout=8.0))
    await tools.list_tools()
    telling = asyncio.ensure_future(call(tools, "hang"))
    for number in range(50):
        await asyncio.sleep(0.01)
        assert (await call(tools, "echo", text=str(number))).result == str(number)
    assert (await telling).error == "the tool did not answer within 8 s"


async def test_an_answer_without_end_costs_the_connection_only(opened: Open) -> None:
    tools = opened(odd("huge"), odd("well", name="well", prefix="well_"))
    assert (await call(tools, "echo", text="x")).error == LOST
    assert (await call(tools, "well_echo", text="x")).result == "x"


@pytest.mark.slow
async def test_no_process_is_left_behind(opened: Open, tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    tools = opened(
        odd("stubborn", mark, name="stubborn", prefix="a_"),
        odd("silent", mark, name="silent", connect_timeout=1.0, prefix="b_"),
        odd("stderr", mark, name="stderr", prefix="c_"),
    )
    await tools.list_tools()
    assert len(processes(mark)) >= 2
    await tools.close()
    assert processes(mark) == []


async def test_what_a_server_has_started_ends_with_it(
    opened: Open, tmp_path: Path
) -> None:
    mark, server = str(tmp_path / "mark"), odd("well")
    script = f'sh -c "sleep 60; :" {mark} & exec "$0" "$@"'
    words = ("-c", script, str(server.command), *server.args)
    tools = opened(replace(server, command="/bin/sh", args=words))
    await tools.list_tools()
    assert len(processes(mark)) == 1
    await tools.close()
    # It is killed by now; a busy machine takes a moment to clear it away.
    await until(lambda: processes(mark) == [])


async def test_after_its_end_it_can_be_used_again(opened: Open) -> None:
    tools = opened(odd("well"))
    assert (await call(tools, "echo", text="one")).result == "one"
    await tools.close()
    assert (await call(tools, "echo", text="two")).result == "two"


def test_several_loops_and_a_caller_without_one_share_a_connection(
    tmp_path: Path,
) -> None:
    from toolcast_runtime.external.external_tools import ExternalTools

    mark = str(tmp_path / "mark")
    tools = ExternalTools((odd("well", mark),))
    try:
        for number in range(3):
            answer = asyncio.run(call(tools, "echo", text=str(number)))
            assert answer.result == str(number)
        assert len(processes(mark)) == 1
    finally:
        tools.close_sync()
    assert processes(mark) == []


def test_nothing_heavy_is_imported_before_a_tool_of_theirs_is_asked_for() -> None:
    code = (
        "import asyncio, sys\n"
        "from generated.kirishima import registry\n"
        "asyncio.run(registry.call_tool('get_personality', {}, 'internal'))\n"
        "heavy = {'mcp', 'mcp_types', 'httpx', 'httpx2', 'anyio', 'pydantic'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
