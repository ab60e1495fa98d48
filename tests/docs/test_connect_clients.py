"""Client configurations in docs/connect-clients.md, checked against a generated server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.program import toolcast

PAGE = (Path(__file__).parents[2] / "docs/connect-clients.md").read_text("utf-8")
PYTHON = "/path/to/my-tools/.venv/bin/python"


def read_entries() -> Iterator[dict[str, Any]]:
    """Yield the entry of each server in the JSON blocks of the page."""
    for block in re.findall(r"^```json\n(.*?)^```$", PAGE, re.M | re.S):
        config = json.loads(block)
        (servers,) = (config[key] for key in ("mcpServers", "servers") if key in config)
        yield from servers.values()


def test_docs_mcp_client_configurations_start_a_server_and_have_its_urls_and_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert toolcast(tmp_path, "init", "my-tools").returncode == 0
    assert toolcast(tmp_path / "my-tools", "generate").returncode == 0
    project = tmp_path / "my-tools"
    monkeypatch.setenv("PYTHONPATH", str(project))
    commands = {
        " ".join([entry["command"], *entry["args"]])
        for entry in read_entries()
        if entry.get("command") == PYTHON
    }
    (command,) = commands
    assert f"claude mcp add my_tools -- {command}\n" in PAGE
    server = command.replace(PYTHON, sys.executable)
    call = ("call", "count_words", "text=a b", "--mcp-stdio", server)
    result = toolcast(project.parent, *call)
    assert result.stdout.startswith("words: 2\n"), result.stderr

    module = (project / "generated/my_tools/mcp_server.py").read_text("utf-8")
    assert 'path="/mcp/"' in module
    variables = re.findall(r'_variable="(\w+)"', module)
    assert set(re.findall(r"\bMY_TOOLS_\w+", PAGE)) <= {
        *variables,
        "MY_TOOLS_TOKEN_CLIENT",
    }
    urls = {entry["url"] for entry in read_entries() if "url" in entry}
    assert urls == {"https://tools.example.org/mcp/"}
