"""A server that misbehaves costs its own tools, within its deadlines, and says so."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from generated._runtime.call_context import CallContext
from generated._runtime.external_server import ExternalServer
from tests.external.conftest import (
    SERVERS,
    Open,
    call,
    odd,
    personal_stdio,
    processes,
    until,
)

LOST = "the connection to the tool's server was lost"


async def test_a_server_that_dies_in_mid_call_comes_back(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "toolcast")
    tools = opened(odd("well"))
    assert [tool.name for tool in await tools.list_tools()] == [
        *("echo", "die", "hang", "secret")
    ]
    assert (await call(tools, "die")).error == LOST
    await until(lambda: caplog.text.count("it offers 4 tools") == 2)
    assert (await call(tools, "echo", text="back")).result == "back"
    assert "not connected: it ended; its 4 tools are not offered" in caplog.text


async def test_a_call_that_hangs_ends_at_its_deadline_and_no_other_call_waits(
    opened: Open,
) -> None:
    tools = opened(odd("well", call_timeout=1.5))
    await tools.list_tools()
    hanging = asyncio.ensure_future(call(tools, "hang"))
    for number in range(20):
        assert (await call(tools, "echo", text=str(number))).result == str(number)
    assert not hanging.done()
    assert (await hanging).error == "the tool gave no answer within 1.5 s"


async def test_a_call_that_is_cancelled_is_over_at_once(opened: Open) -> None:
    tools = opened(odd("well", call_timeout=60))
    await tools.list_tools()
    hanging = asyncio.ensure_future(call(tools, "hang"))
    await asyncio.sleep(0.1)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert (await call(tools, "echo", text="on")).result == "on"


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("ending", r"it ended; its last words: cannot \x1b[31mstart: no licence"),
        ("garbage", "it wrote 1000 lines that are no messages"),
        ("endless", "it sent a message of more than 16 MiB"),
        ("silent", "no connection within 1.5 s"),
        ("slow_list", "it did not list its tools within 1 s"),
        ("pages", "its list of tools has more than 100 pages"),
        ("wrong_list", "its list of tools is not valid: tools: Input should be"),
        ("bottomless", "within 1 s; 1 of its lines were no messages"),
    ],
)
async def test_a_server_that_never_gets_ready_is_left_out(
    mode: str, said: str, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    connect = 1.5 if mode == "silent" else 20.0
    faulty = odd(mode, connect_timeout=connect, list_timeout=1.0)
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
    assert "gone: not connected: it cannot be started: No such file" in caplog.text


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


async def test_tools_that_cannot_be_are_left_out_one_by_one(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(odd("lying"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["echo", "die", "secret", "slow"]
    for said in (
        "`hang` has a schema whose references multiply",
        r"`a\x1b[31mred\nname` is no name of a tool",
        "`deep` has too large a definition",
        "`long` has a description of more than 16,000 characters",
        "`echo` is listed twice",
    ):
        assert said in caplog.text
    assert "\x1b" not in caplog.text


async def test_a_result_that_breaks_the_servers_own_schema_is_an_error(
    opened: Open,
) -> None:
    tools = opened(odd("lying"))
    answer = await call(tools, "echo", text="x")
    assert answer.error == "the tool's result does not match its declared schema"


async def test_a_schema_that_leads_outside_is_followed_nowhere(opened: Open) -> None:
    tools = opened(odd("lying"))
    answer = await call(tools, "die")
    assert answer.error is not None
    assert "the tool's schema cannot be applied" in answer.error


async def test_a_pattern_that_takes_for_ever_does_not(opened: Open) -> None:
    tools = opened(odd("lying"))
    answer = await call(tools, "slow", text="a" * 200 + "!")
    assert answer.error is not None and "the arguments of `slow`" in answer.error


async def test_arguments_are_checked_before_the_server_sees_them(opened: Open) -> None:
    tools = opened(odd("well"))
    answer = await call(tools, "echo", text=3)
    assert answer.error == (
        "the arguments of `echo` are not valid:\n- `text` must be a string"
    )


async def test_of_a_thousand_tools_as_many_are_taken_as_the_toolset_says(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(odd("thousand", list_timeout=20.0))
    assert len(await tools.list_tools()) == 250
    assert "750 more than the 250 of `max_tools`" in caplog.text


async def test_an_answer_without_end_costs_the_connection_only(opened: Open) -> None:
    tools = opened(odd("huge"), odd("well", name="well", prefix="well_"))
    assert (await call(tools, "echo", text="x")).error == LOST
    assert (await call(tools, "well_echo", text="x")).result == "x"


async def test_a_change_of_the_list_is_noticed(
    opened: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    flag = tmp_path / "flag"
    tools = opened(odd("changing", str(flag)))
    assert len(await tools.list_tools()) == 4
    flag.write_text("now")

    listed: list[Any] = []
    for _ in range(200):
        listed = [tool.name for tool in await tools.list_tools()]
        if "later" in listed:
            break
        await asyncio.sleep(0.05)
    assert listed[-1] == "later"


async def test_a_change_is_noticed_from_a_server_that_tells_on_request_only(
    opened: Open, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    script = str(SERVERS / "personal.py")
    words = (script, "--growing", str(flag))
    tools = opened(ExternalServer("personal", command=sys.executable, args=words))
    assert len(await tools.list_tools()) == 4
    flag.write_text("now")
    for _ in range(200):
        if await tools.find_tool("later") is not None:
            break
        await asyncio.sleep(0.05)
    assert (await tools.list_tools())[-1].name == "later"


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


async def test_after_its_end_it_can_be_used_again(opened: Open) -> None:
    tools = opened(odd("well"))
    assert (await call(tools, "echo", text="one")).result == "one"
    await tools.close()
    assert (await call(tools, "echo", text="two")).result == "two"


def test_several_loops_and_a_caller_without_one_share_a_connection(
    tmp_path: Path,
) -> None:
    from generated._runtime.external_tools import ExternalTools

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


async def test_a_secret_of_the_environment_is_shown_nowhere(
    opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ODD_TOKEN", "hunter2-hunter2")
    server = odd("well", env={"TOKEN": "Key ${ODD_TOKEN}"})
    tools = opened(server)
    answer = await call(tools, "secret")
    assert "Key [hidden]" in answer.result
    assert "hunter2" not in f"{answer}{caplog.text}{server!r}{tools!r}"


async def test_a_server_sees_no_variable_that_it_was_not_given(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEBODY_ELSES_TOKEN", "hunter2-hunter2")
    answer = await call(opened(odd("well")), "secret")
    assert "PATH" in answer.result and "SOMEBODY" not in answer.result


async def test_a_variable_that_is_not_set_is_named(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    assert "ODD_TOKEN" not in os.environ
    tools = opened(odd("well", env={"TOKEN": "${ODD_TOKEN}"}))
    assert await tools.list_tools() == ()
    assert "the environment variable ODD_TOKEN is not set" in caplog.text


async def test_a_name_that_is_taken_stays_with_its_owner(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(
        odd("well", name="one"),
        odd("well", name="two"),
        taken=("echo",),
    )
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["die", "hang", "secret"]
    assert "external server one: tools that are not offered: `echo` would be" in (
        caplog.text
    )
    assert "two: its `hang` is not offered: one has one, too" in caplog.text
    # Also when its owner is down, no other server answers in its name.
    assert (await call(tools, "die")).error == LOST
    await until(lambda: "one: not connected: it ended" in caplog.text)
    assert await tools.find_tool("hang") is None


async def test_a_prefix_and_lists_decide_what_is_taken(opened: Open) -> None:
    tools = opened(
        odd("well", prefix="odd.", allow=("echo", "hang"), restrict=("hang",))
    )
    assert [tool.name for tool in await tools.list_tools()] == ["odd.echo"]
    assert tools.may_own("odd.echo")
    assert not any(map(tools.may_own, ("echo", "odd.hang", "odd.die", "odd.")))


async def test_a_server_for_some_clients_is_for_no_other(opened: Open) -> None:
    tools = opened(odd("well", clients=("internal",)))
    echo = await tools.find_tool("echo")
    assert echo is not None
    assert tools.is_meant_for("echo", "internal")
    assert not tools.is_meant_for("echo", "external")
    answer = await tools.call_tool(echo, {}, CallContext("echo", "external"))
    assert answer.error is not None and "cannot be reached" in answer.error


async def test_a_useful_server_over_stdio(opened: Open) -> None:
    tools = opened(personal_stdio(persistent=True))
    listed = await tools.list_tools()
    assert [tool.name for tool in listed] == ["calendar", "contacts", "email", "lists"]
    assert all(tool.persistent and not tool.always for tool in listed)
    made = await call(tools, "lists", action="create_list", title="Shopping")
    assert made.result["created"]["title"] == "Shopping"
    found = await call(tools, "lists", action="list_lists")
    assert found.result == {"found": [made.result["created"]]}
    refused = await call(tools, "lists", action="create_list")
    assert refused.error == "`title` is required for action `create_list`"


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
