"""The helper says clearly which lists no toolset of specs can say, and works as a command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.specs_from_list import ListError, read_list, write_toolset
from toolcast.findings import has_errors
from toolcast.pipeline import generate

HERE = Path(__file__).parent


def tool(name: object, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {}, **more}


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ([tool("a-b"), tool("a.b")], "`a.b` and `a-b` would both be the module `a_b`"),
        ([tool("a"), tool("a")], "`a` and `a` would both be the module `a`"),
        ([tool("two words")], "'two words' is none that MCP allows"),
        ([tool("x" * 129)], "is none that MCP allows"),
        ([tool("naïve")], "is none that MCP allows"),
        ([tool(None)], "tool 1: the name None"),
        ([tool("toolset")], "would be the file toolset.yaml"),
        ([tool("a", inputSchema=None)], "its inputSchema is no object"),
        ([{"x": 1, **tool("a"), "y": 2}], "stand in several places"),
    ],
)
def test_list_that_specs_cannot_say_is_refused_whole(
    tmp_path: Path, tools: list[dict[str, Any]], reason: str
) -> None:
    with pytest.raises(ListError) as caught:
        write_toolset(tmp_path / "server", tools)
    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_every_reason_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ListError) as caught:
        write_toolset(tmp_path / "server", [tool(""), tool("toolset"), tool("ok")])
    assert str(caught.value).count("\n- ") == 2


@pytest.mark.parametrize("text", ["[1]", '{"tools": {}}', "{}", '"tools"', "null"])
def test_text_without_tools_is_refused(text: str) -> None:
    with pytest.raises(ListError, match="no list of tools"):
        read_list(text)


def test_command_writes_a_workspace_that_can_be_cast(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "specs_from_list.py")]
    source = HERE / "mcp" / "mcp-server-time.json"
    run = subprocess.run(
        [*command, str(source), str(tmp_path / "out")], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    generated = generate(str(tmp_path / "out"))
    assert not has_errors(generated.findings), generated.findings
    assert "mcp_server_time/tools/convert_time.py" in generated.files


def test_command_tells_what_is_wrong(tmp_path: Path) -> None:
    source = tmp_path / "list.json"
    source.write_text(json.dumps([tool("two words")]), encoding="utf-8")
    command = [sys.executable, str(HERE / "specs_from_list.py"), str(source)]
    run = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True)
    assert run.returncode == 1
    assert "two words" in run.stderr
    assert "Traceback" not in run.stderr
