"""Calls of third-party servers, also of one that a generated toolset proxies."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.external.conftest import Open, call_tool
from tests.external.third_party_setup import NEEDS_SERVERS, get_commands
from tests.git_command import run_git
from tests.mcp.servers import ERAS, http_server, stdio_server
from tests.program import toolcast
from toolcast_runtime.core.server_settings import ExternalServer

pytestmark = NEEDS_SERVERS


def make_server(name: str, command: tuple[str, ...], **options: Any) -> ExternalServer:
    program, *args = command
    return ExternalServer(name, command=program, args=tuple(args), **options)


async def test_mcp_server_time_returns_results_and_errors_as_external_server(
    open_tools: Open,
) -> None:
    command = (*get_commands().time, "--local-timezone", "UTC")
    tools = open_tools(make_server("time", command, prefix="time_"))
    names = [tool.name for tool in await tools.list_tools()]
    assert names == ["time_get_current_time", "time_convert_time"]
    now = await call_tool(tools, "time_get_current_time", timezone="Asia/Tokyo")
    assert now.success and "+09:00" in now.text()
    unknown = {"timezone": "Nowhere/Atlantis"}
    refused = await call_tool(tools, "time_get_current_time", **unknown)
    assert "Nowhere/Atlantis" in str(refused.error)
    invalid = await call_tool(tools, "time_get_current_time", zone="UTC")
    assert "`timezone` is required" in str(invalid.error)


async def test_mcp_server_git_reads_and_stages_files_without_its_denied_tool(
    open_tools: Open, tmp_path: Path
) -> None:
    run_git(tmp_path, "init", "-b", "main")
    (tmp_path / "one.txt").write_text("one\n")
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-m", "The first one")
    (tmp_path / "two.txt").write_text("two\n")
    command = (*get_commands().git, "--repository", str(tmp_path))
    tools = open_tools(make_server("git", command, deny=("git_reset",)))
    names = [tool.name for tool in await tools.list_tools()]
    assert {"git_status", "git_log", "git_add"} <= set(names)
    assert "git_reset" not in names
    status = await call_tool(tools, "git_status", repo_path=str(tmp_path))
    assert "two.txt" in status.text()
    arguments = {"repo_path": str(tmp_path), "files": ["two.txt"]}
    assert (await call_tool(tools, "git_add", **arguments)).success
    log = await call_tool(tools, "git_log", repo_path=str(tmp_path), max_count=5)
    assert "The first one" in log.text()


async def test_mcp_server_everything_returns_text_images_and_structured_content(
    open_tools: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERYTHING_TOKEN", "hunter2-hunter2")
    command = (*get_commands().everything, "stdio")
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


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the reference server `everything` as a toolset that proxies its calls."""
    command = [*get_commands().everything, "stdio"]
    root = tmp_path_factory.mktemp("proxied")
    import_args = ("import", "--mcp-stdio", shlex.join(command), "--toolset", "theirs")
    imported = toolcast(root, *import_args)
    # Two resource templates have names with spaces, which specs do not accept.
    assert imported.returncode == 1
    assert imported.stdout.count("not imported: `resourceTemplates: ") == 2
    assert imported.stdout.count("not imported: ") == 2
    file = root / "specs/theirs/toolset.yaml"
    server = {"command": command[0], "args": command[1:]}
    text = file.read_text(encoding="utf-8").replace(
        "targets:", "proxy: them\ntargets:\n  langchain: {}\n  cli: {}", 1
    )
    file.write_text(f"{text}mcp_servers: {json.dumps({'them': server})}\n")
    for spec in {*root.glob("specs/theirs/*.yaml")} - {file}:
        with spec.open("a", encoding="utf-8") as stream:
            stream.write(f"cli: {{keyword: {spec.stem.replace('_', '-')}}}\n")
    process = toolcast(root, "generate")
    assert process.returncode == 0, process.stdout + process.stderr
    return root


@pytest.mark.parametrize("era", ERAS)
def test_proxied_third_party_server_passes_on_results_errors_and_progress(
    project: Path, era: str
) -> None:
    with stdio_server(project, "generated.theirs", era=era) as server:
        echoed = server.call("echo", {"message": "hello"})["result"]
        assert echoed["content"] == [{"type": "text", "text": "Echo: hello"}]
        weather = server.call("get-structured-content", {"location": "Chicago"})
        assert "temperature" in weather["result"]["structuredContent"]
        image = server.call("get-tiny-image")["result"]["content"]
        assert "image" in {block["type"] for block in image}
        invalid = server.call("get-sum", {"a": "two", "b": 3})["result"]
        assert invalid["isError"] and "`a` must be a number" in str(invalid["content"])
        # The arguments are valid for the schema, but the server refuses the resource.
        arguments = {"resourceType": "Text", "resourceId": -1}
        refused = server.call("get-resource-reference", arguments)["result"]
        assert refused["isError"] and "Invalid resourceId" in str(refused["content"])
        server.notifications.clear()
        params: dict[str, Any] = {
            "name": "trigger-long-running-operation",
            "arguments": {"duration": 1, "steps": 4},
            "_meta": {"progressToken": "p"},
        }
        result = server.answer(server.start("tools/call", params))["result"]
        assert "completed" in str(result["content"])
        reports = [
            (notification["params"]["progress"], notification["params"]["total"])
            for notification in server.notifications
            if notification["method"] == "notifications/progress"
        ]
        assert reports == [(1, 4), (2, 4), (3, 4), (4, 4)]


@pytest.mark.parametrize("era", ERAS)
def test_proxied_third_party_tool_is_called_over_http(project: Path, era: str) -> None:
    with http_server(project, "generated.theirs") as server:
        call = {"name": "get-sum", "arguments": {"a": 2, "b": 3}}
        answer = server.request(era, "tools/call", call)
        assert "5" in answer["result"]["content"][0]["text"]


def test_third_party_tool_is_called_from_langchain_and_the_cli(project: Path) -> None:
    code = (
        "from generated.theirs.langchain_tools import get_langchain_tool\n"
        "print(get_langchain_tool('echo').invoke({'message': 'hello'}))"
    )
    cli = ["-m", "generated.theirs.cli", "echo", "--message", "hello"]
    for command in (["-c", code], cli):
        process = subprocess.run(
            [sys.executable, *command], cwd=project, capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr
        assert "Echo: hello" in process.stdout
