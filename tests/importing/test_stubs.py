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


def run_python(project: Path, *arguments: str) -> str:
    """Run Python in the project and return its output."""
    result = subprocess.run(
        [sys.executable, *arguments], cwd=project, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


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


def test_toolcast_call_reports_an_imported_tools_missing_handler(
    project: Path,
) -> None:
    arguments = ["-m", "toolcast", "call", "git_status", "repo_path=."]
    result = subprocess.run(
        [sys.executable, *arguments], cwd=project, capture_output=True, text=True
    )
    assert (result.returncode, result.stderr) == (1, f"error: {ERROR}\n")


def test_langchain_tool_reports_an_imported_tools_missing_handler(
    project: Path,
) -> None:
    assert run_python(project, "-c", LANGCHAIN_CALL) == f"error {ERROR}\n"


def test_generated_code_without_handlers_passes_its_tests_and_mypy(
    project: Path, mypy_cache: str
) -> None:
    run_python(project, "-m", "pytest", "-q", "generated")
    run_python(
        project, "-m", "mypy", "--strict", "--cache-dir", mypy_cache, "generated"
    )
