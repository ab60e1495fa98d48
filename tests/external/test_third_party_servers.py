"""Calls of third-party servers: time, Git and the reference server `everything`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.external.conftest import Open, call_tool
from tests.external.third_party_setup import ThirdPartyCommands, find_installed
from tests.git_command import run_git
from toolcast_runtime.core.server_settings import ExternalServer

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(
        find_installed() is None, reason="not set up: make test-servers"
    ),
]


@pytest.fixture(scope="module")
def commands() -> ThirdPartyCommands:
    found = find_installed()
    assert found is not None
    return found


def make_server(name: str, command: tuple[str, ...], **options: Any) -> ExternalServer:
    program, *args = command
    return ExternalServer(name, command=program, args=tuple(args), **options)


async def test_mcp_server_time_returns_results_and_errors_as_external_server(
    open_tools: Open, commands: ThirdPartyCommands
) -> None:
    command = (*commands.time, "--local-timezone", "UTC")
    tools = open_tools(make_server("time", command, prefix="time_"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["time_get_current_time", "time_convert_time"]
    now = await call_tool(tools, "time_get_current_time", timezone="Asia/Tokyo")
    assert now.success and "+09:00" in now.text()
    refused = await call_tool(
        tools, "time_get_current_time", timezone="Nowhere/Atlantis"
    )
    assert refused.error is not None and "Nowhere/Atlantis" in refused.error
    invalid = await call_tool(tools, "time_get_current_time", zone="UTC")
    assert invalid.error is not None and "`timezone` is required" in invalid.error


async def test_mcp_server_git_reads_and_stages_files_without_its_denied_tool(
    open_tools: Open, commands: ThirdPartyCommands, tmp_path: Path
) -> None:
    run_git(tmp_path, "init", "-b", "main")
    (tmp_path / "one.txt").write_text("one\n")
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-m", "The first one")
    (tmp_path / "two.txt").write_text("two\n")
    command = (*commands.git, "--repository", str(tmp_path))
    tools = open_tools(make_server("git", command, deny=("git_reset",)))
    names = [tool.name for tool in await tools.list_tools()]
    assert {"git_status", "git_log", "git_add"} <= set(names)
    assert "git_reset" not in names
    status = await call_tool(tools, "git_status", repo_path=str(tmp_path))
    assert "two.txt" in status.text()
    added = await call_tool(
        tools, "git_add", repo_path=str(tmp_path), files=["two.txt"]
    )
    assert added.success
    log = await call_tool(tools, "git_log", repo_path=str(tmp_path), max_count=5)
    assert "The first one" in log.text()


async def test_mcp_server_everything_returns_text_images_and_structured_content(
    open_tools: Open, commands: ThirdPartyCommands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERYTHING_TOKEN", "hunter2-hunter2")
    command = (*commands.everything, "stdio")
    env = {"TOKEN": "${EVERYTHING_TOKEN}"}
    tools = open_tools(make_server("everything", command, env=env))
    names = {tool.name for tool in await tools.list_tools()}
    assert {"echo", "get-sum", "get-tiny-image", "get-structured-content"} <= names
    assert (await call_tool(tools, "echo", message="hello")).result == "Echo: hello"
    total = await call_tool(tools, "get-sum", a=2, b=3)
    assert "5" in total.text()
    invalid = await call_tool(tools, "get-sum", a="two", b=3)
    assert invalid.error is not None and "`a` must be a number" in invalid.error
    image = await call_tool(tools, "get-tiny-image")
    kinds = {block["type"] for block in image.content or ()}
    assert "image" in kinds
    weather = await call_tool(tools, "get-structured-content", location="New York")
    assert isinstance(weather.result, dict) and "temperature" in weather.result
    environment = await call_tool(tools, "get-env")
    assert "hunter2" not in environment.text()
