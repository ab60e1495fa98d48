"""Which tools of a server are offered, to whom, and what is noticed when they change."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Project
from tests.external.conftest import (
    LOST,
    SERVERS,
    Open,
    call,
    odd,
    personal_stdio,
    processes,
    until,
)
from tests.mcp.servers import ERAS, encode_requests
from tests.runtime.packages import Package, definition
from toolcast_runtime import CallContext, Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.core.definitions.tool import ToolFilter
from toolcast_runtime.core.server_settings import ExternalServer


@pytest.mark.slow
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


async def test_tools_that_cannot_be_are_left_out_one_by_one(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(odd("lying"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["echo", "die", "secret", "slow"]
    for said in (
        "`hang` has a schema whose references expand to too many paths",
        r"`a\x1b[31mred\nname` is not a valid tool name",
        "`deep` has a definition that is too large",
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
    assert "750 tools exceed `max_tools`, which is 250" in caplog.text


@pytest.mark.parametrize("before", [(), ("flooded",)])
async def test_a_change_of_the_list_is_noticed(
    before: tuple[str, ...],
    opened: Open,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also where it is said after so much else that most of it is dropped."""
    flag = tmp_path / "flag"
    tools = opened(odd("changing", str(flag), *before))
    assert len(await tools.list_tools()) == 4
    flag.write_text("now")

    listed: list[Any] = []
    for _ in range(200):
        listed = [tool.name for tool in await tools.list_tools()]
        if "later" in listed:
            break
        await asyncio.sleep(0.05)
    assert listed[-1] == "later"


@pytest.mark.slow
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
    assert (
        "two: its `hang` is not offered: one has a tool with this name or a similar one"
        in caplog.text
    )
    # Also when its owner is down, no other server answers in its name.
    assert (await call(tools, "die")).error == LOST
    await until(lambda: "one: not connected: the server's process ended" in caplog.text)
    assert await tools.find_tool("hang") is None


async def test_a_name_that_looks_like_another_is_left_out(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(
        odd("well", name="one", allow=("echo", "hang")),
        odd("well", name="two", prefix="h-", allow=("die", "secret")),
        odd("well", name="three", prefix="H_", allow=("die", "echo")),
        taken=("Echo", "h_Secret"),
    )
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["hang", "h-die", "H_echo"]
    assert "`echo` would be named `echo`, which looks like `Echo`, which is used" in (
        caplog.text
    )
    assert (
        "`secret` would be named `h-secret`, which looks like `h_Secret`" in caplog.text
    )
    assert (
        "three: its `H_die` is not offered: two has a tool with this name or a similar one"
        in caplog.text
    )


async def test_a_prefix_and_lists_decide_what_is_taken(opened: Open) -> None:
    tools = opened(odd("well", prefix="odd.", allow=("echo", "hang"), deny=("hang",)))
    assert [tool.name for tool in await tools.list_tools()] == ["odd.echo"]
    assert tools.can_provide("odd.echo")
    assert not any(map(tools.can_provide, ("echo", "odd.hang", "odd.die", "odd.")))


def workspace(**options: Any) -> ExternalServer:
    script = str(SERVERS / "workspace.py")
    return ExternalServer(
        "google",
        command=sys.executable,
        args=(script,),
        connect_timeout=20.0,
        **options,
    )


@pytest.mark.slow
async def test_a_map_of_names_fits_a_servers_tools_to_those_that_clients_know(
    opened: Open,
) -> None:
    tools = opened(
        workspace(
            prefix="google_",
            tools={"manage_event": "calendar", "get_events": "calendar_events"},
        )
    )
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["google_list_calendars", "calendar_events", "calendar"]
    made = await call(tools, "calendar", summary="Lunch")
    assert made.text() == "manage_event: Lunch"
    assert (await call(tools, "calendar_events")).text() == "get_events: Lunch"
    assert all(map(tools.can_provide, names))
    assert not any(map(tools.can_provide, ("manage_event", "google_manage_event")))


async def test_what_the_toolset_names_and_the_server_lacks_is_told_with_what_it_has(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = opened(
        workspace(
            tools={"manage_events": "calendar"}, allow=("manage_events", "get_events")
        )
    )
    assert [tool.name for tool in await tools.list_tools()] == ["get_events"]
    assert (
        "external server google: tools that are not offered: `manage_events` of `allow`"
        " does not exist on the server; the server lists `list_calendars`, `get_events`,"
        " `manage_event`; help: change `tools` or `allow`"
    ) in caplog.text


async def test_a_server_for_some_clients_is_for_no_other(opened: Open) -> None:
    tools = opened(odd("well", clients=("internal",)))
    echo = await tools.find_tool("echo")
    assert echo is not None
    assert tools.is_available_to("echo", "internal")
    assert not tools.is_available_to("echo", "external")
    answer = await tools.call_tool(echo, {}, CallContext("echo", "external"))
    assert answer.error is not None and "cannot be reached" in answer.error


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"clients": ("internal",)}, ToolFilter(client="desk")),
        ({"allow": ("echo",)}, ToolFilter(frozenset({"memory"}), client="desk")),
        ({"allow": ("echo",)}, ToolFilter(excluded=frozenset({"echo"}), client="desk")),
        ({"prefix": "odd_"}, ToolFilter(frozenset({"echo"}))),
        ({"deny": ("echo",)}, ToolFilter(frozenset({"echo"}))),
    ],
)
async def test_a_list_starts_no_server_whose_tools_nobody_asks_for(
    opened: Open, options: dict[str, Any], wanted: ToolFilter
) -> None:
    tools = opened(odd("well", "only-when-wanted", **options))
    assert await tools.list_tools(wanted) == ()
    assert not processes("only-when-wanted")


async def test_a_clients_list_waits_for_none_but_its_servers(
    opened: Open, tmp_path: Path
) -> None:
    providers = [
        opened(odd("well", "of-another", clients=("internal",))),
        opened(odd("well", "not-allowed", allow=("echo",))),
    ]
    clients = {"internal": Client(allow="*"), "desk": Client(allow=("memory",))}
    package = Package(tmp_path, definition("memory")).load()
    registry = Registry(package, clients=clients, providers=providers)
    assert [tool.name for tool in await registry.list_tools("desk")] == ["memory"]
    assert not processes("of-another") and not processes("not-allowed")
    catalog = await registry.get_routed_tools_catalog("internal")
    assert "echo" in catalog and processes("not-allowed")


@pytest.mark.parametrize("has_instructions", [False, True])
def test_toolset_without_own_tools_serves_external_tools(
    make_project: Callable[..., Project], has_instructions: bool
) -> None:
    """`mcp_servers` alone is a toolset: its package has no definitions."""
    server = {"command": sys.executable, "args": [str(SERVERS / "odd.py"), "well"]}
    toolset: dict[str, Any] = {"mcp_servers": {"odd": server}}
    toolset["targets"] = {"registry": {}, "langchain": {}, "cli": {}, "prompts": {}}
    toolset["targets"]["mcp"] = {"external": True}
    if has_instructions:
        toolset["instructions"] = "Use the tools of the server."
    project = make_project({})
    project.write(
        "specs/toy/toolset.yaml",
        yaml.safe_dump({"name": "toy", "title": "Toy", **toolset}),
    )
    assert project.toolcast("generate").returncode == 0
    assert project.toolcast("check").returncode == 0
    done = project.run("-m", "generated.toy.mcp_server", "--list")
    assert (done.returncode, done.stderr) == (0, "")
    requests = encode_requests(ERAS[0], ("tools/list", {}))
    served = project.run("-m", "generated.toy.mcp_server", given=requests)
    names = re.findall(r'"name": ?"(echo|die|hang|secret)"', served.stdout)
    assert names == ["echo", "die", "hang", "secret"], served.stderr
    program = (
        "from generated.toy import langchain_tools as l; print(l.get_langchain_tools())"
    )
    assert project.run("-c", program).stdout == "[]\n"
    assert project.run("-m", "generated.toy.cli", "--help").returncode == 0
