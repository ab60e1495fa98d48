"""Imported tools without handlers: they are listed, and calls return an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.imported import import_lists
from tests.mcp.projects import generate_project
from tests.mcp.servers import ERAS, stdio_server

LIST = Path(__file__).parents[1] / "corpus" / "mcp" / "mcp-server-git.json"
TARGETS = ("mcp", "registry", "langchain", "providers", "snapshots")
ERROR = "the tool `git_status` is not implemented: its spec names no handler"
LANGCHAIN_CALL = """\
from generated.git.langchain_tools import get_langchain_tools
[tool] = [tool for tool in get_langchain_tools() if tool.name == "git_status"]
call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"repo_path": "."}}
message = tool.invoke(call)
print(message.status, message.content)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a project with an imported tool list."""
    root = tmp_path_factory.mktemp("stubs")
    import_lists(root, {"git": LIST.read_text("utf-8")}, TARGETS)
    generate_project(root)
    return root


@pytest.mark.parametrize("version", ERAS)
def test_generated_server_lists_tools_without_handlers_and_fails_their_calls(
    project: Path, version: str
) -> None:
    with stdio_server(project, "generated.git", era=version) as server:
        assert len(server.request("tools/list")["result"]["tools"]) == 12
        answer = server.call("git_status", {"repo_path": "."})["result"]
        assert answer["isError"] is True
        assert [block["text"] for block in answer["content"]] == [ERROR]
        invalid = server.call("git_status", {"repo_path": 1})["result"]
        assert invalid["isError"] is True
        assert "must be" in invalid["content"][0]["text"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["-m", "toolcast", "call", "git_status", "repo_path=."],
            (1, "", f"error: {ERROR}\n"),
        ),
        (["-c", LANGCHAIN_CALL], (0, f"error {ERROR}\n", "")),
    ],
    ids=["toolcast call", "langchain"],
)
def test_call_of_an_imported_tool_reports_its_missing_handler(
    project: Path, arguments: list[str], expected: tuple[int, str, str]
) -> None:
    command = [sys.executable, *arguments]
    result = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == expected
