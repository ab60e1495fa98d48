"""Tools of external servers: selection, names, validation, access and list changes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Project
from tests.external.conftest import (
    CONNECTION_LOST,
    SERVERS,
    Open,
    call_tool,
    find_processes,
    make_personal_server,
    odd_server,
    wait_for_tool,
)
from tests.mcp.servers import ERAS, encode_requests
from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import CallContext, Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.core.definitions.tool import ToolFilter
from toolcast_runtime.core.server_settings import ExternalServer


@pytest.mark.slow
async def test_external_stdio_server_lists_and_calls_tools(open_tools: Open) -> None:
    tools = open_tools(make_personal_server(persistent=True))
    listed_tools = await tools.list_tools()
    assert [tool.name for tool in listed_tools] == [
        "calendar",
        "contacts",
        "email",
        "lists",
    ]
    assert all(tool.persistent and not tool.always for tool in listed_tools)
    created = await call_tool(tools, "lists", action="create_list", title="Shopping")
    assert created.result["created"]["title"] == "Shopping"
    found = await call_tool(tools, "lists", action="list_lists")
    assert found.result == {"found": [created.result["created"]]}
    refused = await call_tool(tools, "lists", action="create_list")
    assert refused.error == "`title` is required for action `create_list`"


async def test_each_invalid_external_tool_is_omitted_with_a_logged_reason(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = open_tools(odd_server("lying"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["echo", "die", "secret", "slow"]
    for reason in (
        "`hang` has a schema whose references expand to too many paths",
        r"`a\x1b[31mred\nname` is not a valid tool name",
        "`deep` has a definition that is too large",
        "`long` has a description of more than 16,000 characters",
        "`echo` is listed twice",
    ):
        assert reason in caplog.text
    assert "\x1b" not in caplog.text


async def test_external_result_that_violates_its_output_schema_is_an_error(
    open_tools: Open,
) -> None:
    tools = open_tools(odd_server("lying"))
    response = await call_tool(tools, "echo", text="x")
    assert response.error == "the tool's result does not match its declared schema"


async def test_external_tool_with_file_reference_in_input_schema_fails_the_call(
    open_tools: Open,
) -> None:
    tools = open_tools(odd_server("lying"))
    response = await call_tool(tools, "die")
    assert response.error is not None
    assert "the tool's schema cannot be applied" in response.error


async def test_catastrophic_regex_in_external_tool_schema_does_not_hang_the_call(
    open_tools: Open,
) -> None:
    tools = open_tools(odd_server("lying"))
    response = await call_tool(tools, "slow", text="a" * 200 + "!")
    assert response.error is not None and "the arguments of `slow`" in response.error


async def test_invalid_arguments_are_refused_before_external_server_is_called(
    open_tools: Open,
) -> None:
    tools = open_tools(odd_server("well"))
    response = await call_tool(tools, "echo", text=3)
    assert response.error == (
        "the arguments of `echo` are not valid:\n- `text` must be a string"
    )


async def test_external_tools_above_max_tools_are_omitted_and_counted_in_the_log(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = open_tools(odd_server("thousand", list_timeout=20.0))
    assert len(await tools.list_tools()) == 250
    assert "750 tools exceed `max_tools`, which is 250" in caplog.text


@pytest.mark.parametrize("notifications", [(), ("flooded",)])
async def test_external_tool_list_is_refreshed_after_a_list_changed_notification(
    notifications: tuple[str, ...],
    open_tools: Open,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Also if it follows thousands of notifications, most of which are dropped."""
    flag = tmp_path / "flag"
    tools = open_tools(odd_server("changing", str(flag), *notifications))
    assert len(await tools.list_tools()) == 4
    flag.write_text("now")
    await wait_for_tool(tools, "later")
    assert (await tools.list_tools())[-1].name == "later"


@pytest.mark.slow
async def test_external_server_that_notifies_only_subscribers_refreshes_tool_list(
    open_tools: Open, tmp_path: Path
) -> None:
    flag = tmp_path / "flag"
    script = str(SERVERS / "personal.py")
    args = (script, "--growing", str(flag))
    tools = open_tools(ExternalServer("personal", command=sys.executable, args=args))
    assert len(await tools.list_tools()) == 4
    flag.write_text("now")
    await wait_for_tool(tools, "later")
    assert (await tools.list_tools())[-1].name == "later"


async def test_external_tool_with_a_name_already_in_use_is_omitted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = open_tools(
        odd_server("well", name="one"),
        odd_server("well", name="two"),
        reserved_names=("echo",),
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
    # No other server answers for the owner, even while the owner is down.
    assert (await call_tool(tools, "die")).error == CONNECTION_LOST
    await wait_until_async(
        lambda: "one: not connected: the server's process ended" in caplog.text
    )
    assert await tools.find_tool("hang") is None


async def test_external_tool_with_a_name_similar_to_one_in_use_is_omitted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = open_tools(
        odd_server("well", name="one", allow=("echo", "hang")),
        odd_server("well", name="two", prefix="h-", allow=("die", "secret")),
        odd_server("well", name="three", prefix="H_", allow=("die", "echo")),
        reserved_names=("Echo", "h_Secret"),
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


async def test_external_server_settings_allow_and_deny_select_the_offered_tools(
    open_tools: Open,
) -> None:
    """Setting `prefix` is added to their names."""
    tools = open_tools(
        odd_server("well", prefix="odd.", allow=("echo", "hang"), deny=("hang",))
    )
    assert [tool.name for tool in await tools.list_tools()] == ["odd.echo"]
    assert tools.can_provide("odd.echo")
    assert not any(map(tools.can_provide, ("echo", "odd.hang", "odd.die", "odd.")))


def make_workspace_server(**options: Any) -> ExternalServer:
    script = str(SERVERS / "workspace.py")
    return ExternalServer(
        "google",
        command=sys.executable,
        args=(script,),
        connect_timeout=20.0,
        **options,
    )


@pytest.mark.slow
async def test_external_server_setting_tools_renames_tools_without_the_prefix(
    open_tools: Open,
) -> None:
    tools = open_tools(
        make_workspace_server(
            prefix="google_",
            tools={"manage_event": "calendar", "get_events": "calendar_events"},
        )
    )
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["google_list_calendars", "calendar_events", "calendar"]
    created = await call_tool(tools, "calendar", summary="Lunch")
    assert created.text() == "manage_event: Lunch"
    assert (await call_tool(tools, "calendar_events")).text() == "get_events: Lunch"
    assert all(map(tools.can_provide, names))
    assert not any(map(tools.can_provide, ("manage_event", "google_manage_event")))


async def test_configured_tool_absent_from_external_server_is_logged(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """The log line contains the listed tools."""
    tools = open_tools(
        make_workspace_server(
            tools={"manage_events": "calendar"}, allow=("manage_events", "get_events")
        )
    )
    assert [tool.name for tool in await tools.list_tools()] == ["get_events"]
    assert (
        "external server google: tools that are not offered: `manage_events` of `allow`"
        " does not exist on the server; the server lists `list_calendars`, `get_events`,"
        " `manage_event`; help: change `tools` or `allow`"
    ) in caplog.text


async def test_external_server_is_available_only_to_the_clients_in_its_settings(
    open_tools: Open,
) -> None:
    tools = open_tools(odd_server("well", clients=("internal",)))
    echo = await tools.find_tool("echo")
    assert echo is not None
    assert tools.is_available_to("echo", "internal")
    assert not tools.is_available_to("echo", "external")
    response = await tools.call_tool(echo, {}, CallContext("echo", "external"))
    assert response.error is not None and "cannot be reached" in response.error


@pytest.mark.parametrize(
    ("options", "tool_filter"),
    [
        ({"clients": ("internal",)}, ToolFilter(client="desk")),
        ({"allow": ("echo",)}, ToolFilter(frozenset({"memory"}), client="desk")),
        ({"allow": ("echo",)}, ToolFilter(excluded=frozenset({"echo"}), client="desk")),
        ({"prefix": "odd_"}, ToolFilter(frozenset({"echo"}))),
        ({"deny": ("echo",)}, ToolFilter(frozenset({"echo"}))),
    ],
)
async def test_filtered_list_starts_no_external_server_without_matching_tools(
    open_tools: Open, options: dict[str, Any], tool_filter: ToolFilter
) -> None:
    tools = open_tools(odd_server("well", "only-when-wanted", **options))
    assert await tools.list_tools(tool_filter) == ()
    assert not find_processes("only-when-wanted")


async def test_list_for_a_client_starts_only_external_servers_with_its_tools(
    open_tools: Open, tmp_path: Path
) -> None:
    providers = [
        open_tools(odd_server("well", "of-another", clients=("internal",))),
        open_tools(odd_server("well", "not-allowed", allow=("echo",))),
    ]
    clients = {"internal": Client(allow="*"), "desk": Client(allow=("memory",))}
    package = Package(tmp_path, definition("memory")).load()
    registry = Registry(package, clients=clients, providers=providers)
    assert [tool.name for tool in await registry.list_tools("desk")] == ["memory"]
    assert not find_processes("of-another") and not find_processes("not-allowed")
    catalog = await registry.get_routed_tools_catalog("internal")
    assert "echo" in catalog and find_processes("not-allowed")


@pytest.mark.rows(1)
@pytest.mark.parametrize("has_instructions", [False, True])
def test_toolset_without_local_tools_serves_external_tools(
    make_project: Callable[..., Project], has_instructions: bool
) -> None:
    """A toolset may have only `mcp_servers`: its package has no definitions."""
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
    process = project.run("-m", "generated.toy.mcp_server", "--list")
    assert (process.returncode, process.stderr) == (0, "")
    requests = encode_requests(ERAS[0], ("tools/list", {}))
    served = project.run("-m", "generated.toy.mcp_server", input=requests)
    names = re.findall(r'"name": ?"(echo|die|hang|secret)"', served.stdout)
    assert names == ["echo", "die", "hang", "secret"], served.stderr
    program = (
        "from generated.toy import langchain_tools as l; print(l.get_langchain_tools())"
    )
    assert project.run("-c", program).stdout == "[]\n"
    assert project.run("-m", "generated.toy.cli", "--help").returncode == 0
