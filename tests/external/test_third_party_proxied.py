"""Calls of a third-party server that is imported and proxied by a generated toolset."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.external.third_party_setup import find_installed
from tests.mcp.servers import ERAS, http_server, stdio_server
from tests.program import toolcast

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(
        find_installed() is None, reason="not set up: make test-servers"
    ),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Import the reference server `everything` as a toolset that proxies its calls."""
    commands = find_installed()
    assert commands is not None
    command = [*commands.everything, "stdio"]
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
        server_error = server.call(
            "get-resource-reference", {"resourceType": "Text", "resourceId": -1}
        )["result"]
        assert server_error["isError"] and "Invalid resourceId" in str(
            server_error["content"]
        )
        server.notifications.clear()
        params: dict[str, Any] = {
            "name": "trigger-long-running-operation",
            "arguments": {"duration": 1, "steps": 4},
            "_meta": {"progressToken": "p"},
        }
        result = server.answer(server.start("tools/call", params))["result"]
        assert "completed" in str(result["content"])
        reports = [
            notification["params"]
            for notification in server.notifications
            if notification["method"] == "notifications/progress"
        ]
        assert [(report["progress"], report["total"]) for report in reports] == [
            (1, 4),
            (2, 4),
            (3, 4),
            (4, 4),
        ]


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
    for command in (
        ["-c", code],
        ["-m", "generated.theirs.cli", "echo", "--message", "hello"],
    ):
        process = subprocess.run(
            [sys.executable, *command], cwd=project, capture_output=True, text=True
        )
        assert process.returncode == 0, process.stderr
        assert "Echo: hello" in process.stdout
