"""A server that others wrote is imported, and answers the calls behind a generated one."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.external.third_party_setup import installed
from tests.mcp.servers import ERAS, http_server, stdio_server
from tests.program import toolcast

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(installed() is None, reason="not set up: make test-servers"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The protocol's show-case, imported; it answers all calls itself."""
    there = installed()
    assert there is not None
    words = [*there.everything, "stdio"]
    root = tmp_path_factory.mktemp("proxied")
    imported = ("import", "--mcp-stdio", shlex.join(words), "--toolset", "theirs")
    assert toolcast(root, *imported).returncode == 0
    file = root / "specs/theirs/toolset.yaml"
    server = {"command": words[0], "args": words[1:]}
    text = file.read_text(encoding="utf-8").replace(
        "targets:", "proxy: them\ntargets:\n  langchain: {}\n  cli: {}", 1
    )
    # JSON is YAML, too.
    file.write_text(f"{text}mcp_servers: {json.dumps({'them': server})}\n")
    for spec in {*root.glob("specs/theirs/*.yaml")} - {file}:
        with spec.open("a", encoding="utf-8") as more:
            more.write(f"cli: {{keyword: {spec.stem.replace('_', '-')}}}\n")
    done = toolcast(root, "generate")
    assert done.returncode == 0, done.stdout + done.stderr
    return root


@pytest.mark.parametrize("era", ERAS)
def test_calls_errors_and_progress_pass_through(project: Path, era: str) -> None:
    with stdio_server(project, "generated.theirs", era=era) as server:
        echoed = server.call("echo", {"message": "hello"})["result"]
        assert echoed["content"] == [{"type": "text", "text": "Echo: hello"}]
        weather = server.call("get-structured-content", {"location": "Chicago"})
        assert "temperature" in weather["result"]["structuredContent"]
        image = server.call("get-tiny-image")["result"]["content"]
        assert "image" in {block["type"] for block in image}
        wrong = server.call("get-sum", {"a": "two", "b": 3})["result"]
        assert wrong["isError"] and "`a` must be a number" in str(wrong["content"])
        # Its own error: the schema allows the text, the server does not find the resource.
        theirs = server.call(
            "get-resource-reference", {"resourceType": "Text", "resourceId": -1}
        )["result"]
        assert theirs["isError"] and "Invalid resourceId" in str(theirs["content"])
        server.notifications.clear()
        asked: dict[str, Any] = {
            "name": "trigger-long-running-operation",
            "arguments": {"duration": 1, "steps": 4},
            "_meta": {"progressToken": "p"},
        }
        result = server.answer(server.start("tools/call", asked))["result"]
        assert "completed" in str(result["content"])
        told = [
            one["params"]
            for one in server.notifications
            if one["method"] == "notifications/progress"
        ]
        assert [(one["progress"], one["total"]) for one in told] == [
            (1, 4),
            (2, 4),
            (3, 4),
            (4, 4),
        ]


@pytest.mark.parametrize("era", ERAS)
def test_they_do_over_http(project: Path, era: str) -> None:
    with http_server(project, "generated.theirs") as server:
        call = {"name": "get-sum", "arguments": {"a": 2, "b": 3}}
        answer = server.request(era, "tools/call", call)
        assert "5" in answer["result"]["content"][0]["text"]


def test_they_do_in_langchain_and_on_the_command_line(project: Path) -> None:
    code = (
        "from generated.theirs.langchain_tools import get_langchain_tool\n"
        "print(get_langchain_tool('echo').invoke({'message': 'hello'}))"
    )
    for words in (
        ["-c", code],
        ["-m", "generated.theirs.cli", "echo", "--message", "hello"],
    ):
        done = subprocess.run(
            [sys.executable, *words], cwd=project, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "Echo: hello" in done.stdout
