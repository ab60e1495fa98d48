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
    odd_server,
    wait_for_tool,
)
from tests.mcp.servers import ERAS, encode_requests
from tests.runtime.packages import Package, definition
from tests.waiting import wait_until_async
from toolcast_runtime import CallContext, Registry
from toolcast_runtime.core.access import Client
from toolcast_runtime.core.server_settings import ExternalServer


async def test_invalid_external_tools_are_omitted_or_their_calls_fail_with_a_reason(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """A catastrophic regex in a schema does not hang the call."""
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
    invalid_result = await call_tool(tools, "echo", text="x")
    assert invalid_result.error == (
        "the tool's result does not match its declared schema"
    )
    file_reference = await call_tool(tools, "die")
    assert "the tool's schema cannot be applied" in str(file_reference.error)
    response = await call_tool(tools, "slow", text="a" * 200 + "!")
    assert "the arguments of `slow`" in str(response.error)


@pytest.mark.parametrize(
    ("script", "args"),
    [
        ("odd.py", ("changing",)),
        ("odd.py", ("changing", "flooded")),
        pytest.param("personal.py", ("--growing",), marks=pytest.mark.slow),
    ],
)
async def test_external_tool_list_is_refreshed_after_a_list_changed_notification(
    script: str, args: tuple[str, ...], open_tools: Open, tmp_path: Path
) -> None:
    """Also after thousands of notifications, most dropped, or only to subscribers."""
    flag = tmp_path / "flag"
    command = (str(SERVERS / script), args[0], str(flag), *args[1:])
    tools = open_tools(ExternalServer("odd", command=sys.executable, args=command))
    assert len(await tools.list_tools()) == 4
    flag.write_text("now")
    await wait_for_tool(tools, "later")
    assert (await tools.list_tools())[-1].name == "later"


async def test_external_tool_with_a_name_used_or_similar_to_a_used_one_is_omitted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    tools = open_tools(
        odd_server("well", name="one"),
        odd_server("well", name="two", tools={"hang": "Hang", "secret": "reveal"}),
        reserved_names=("Echo",),
    )
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["die", "hang", "secret", "reveal"]
    assert "PATH" in (await call_tool(tools, "reveal")).result
    messages = (
        "one: tools that are not offered: `echo` would be named `echo`, which looks like",
        "two: its `die` is not offered: one has a tool with this name or a similar one",
        "two: its `Hang` is not offered: one has a tool with this name or a similar one",
    )
    assert all(f"external server {message}" in caplog.text for message in messages)
    # No other server answers for the owner, even while the owner is down.
    assert (await call_tool(tools, "die")).error == CONNECTION_LOST
    reason = "one: not connected: the server's process ended"
    await wait_until_async(lambda: reason in caplog.text)
    assert await tools.find_tool("hang") is None


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


async def test_list_for_a_client_starts_only_external_servers_with_its_tools(
    open_tools: Open, tmp_path: Path
) -> None:
    of_another = odd_server("well", "of-another", clients=("internal",))
    not_allowed = odd_server("well", "not-allowed", allow=("echo",))
    providers = [open_tools(of_another), open_tools(not_allowed)]
    clients = {"internal": Client(allow="*"), "desk": Client(allow=("memory",))}
    package = Package(tmp_path, definition("memory")).load()
    registry = Registry(package, clients=clients, providers=providers)
    assert [tool.name for tool in await registry.list_tools("desk")] == ["memory"]
    assert not find_processes("of-another") and not find_processes("not-allowed")
    catalog = await registry.get_routed_tools_catalog("internal")
    assert "echo" in catalog and find_processes("not-allowed")
    await registry.close()
    await wait_until_async(lambda: not find_processes("not-allowed"))


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
    text = yaml.safe_dump({"name": "toy", "title": "Toy", **toolset})
    project.write("specs/toy/toolset.yaml", text)
    assert project.toolcast("generate").returncode == 0
    assert project.toolcast("check").returncode == 0
    process = project.run("-m", "generated.toy.mcp_server", "--list")
    assert (process.returncode, process.stderr) == (0, "")
    requests = encode_requests(ERAS[0], ("tools/list", {}))
    served = project.run("-m", "generated.toy.mcp_server", input=requests)
    names = re.findall(r'"name": ?"(echo|die|hang|secret)"', served.stdout)
    assert names == ["echo", "die", "hang", "secret"], served.stderr
    program = "from generated.toy.langchain_tools import get_langchain_tools as get"
    assert project.run("-c", f"{program}; print(get())").stdout == "[]\n"
    assert project.run("-m", "generated.toy.cli", "--help").returncode == 0
