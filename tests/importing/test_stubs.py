"""Imported tools have no handlers: they are listed, and a call says so wherever it comes from."""

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
SAID = "the tool `git_status` is not implemented: its spec names no handler"
IN_LANGCHAIN = """\
from generated.git.langchain_tools import get_langchain_tools
[tool] = [tool for tool in get_langchain_tools() if tool.name == "git_status"]
call = {"type": "tool_call", "id": "1", "name": tool.name, "args": {"repo_path": "."}}
message = tool.invoke(call)
print(message.status, message.content)
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("stubs")
    import_lists(root, {"git": LIST.read_text("utf-8")}, TARGETS)
    generate_project(root)
    return root


def python(project: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=project, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("era", ERAS)
def test_a_server_lists_them_and_says_so(project: Path, era: str) -> None:
    with stdio_server(project, "generated.git", era=era) as server:
        assert len(server.request("tools/list")["result"]["tools"]) == 12
        answer = server.call("git_status", {"repo_path": "."})["result"]
        assert answer["isError"] is True
        assert [block["text"] for block in answer["content"]] == [SAID]
        invalid = server.call("git_status", {"repo_path": 1})["result"]
        assert invalid["isError"] is True
        assert "must be" in invalid["content"][0]["text"]


def test_a_command_says_so(project: Path) -> None:
    words = ["-m", "toolcast", "call", "git_status", "repo_path=."]
    done = subprocess.run(
        [sys.executable, *words], cwd=project, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (1, f"error: {SAID}\n")


def test_langchain_says_so(project: Path) -> None:
    assert python(project, "-c", IN_LANGCHAIN) == f"error {SAID}\n"


def test_the_generated_tests_and_mypy_are_content(
    project: Path, mypy_cache: str
) -> None:
    python(project, "-m", "pytest", "-q", "generated")
    python(project, "-m", "mypy", "--strict", "--cache-dir", mypy_cache, "generated")
