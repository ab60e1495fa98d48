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


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Generate a new project named `my-tools`."""
    assert toolcast(tmp_path, "init", "my-tools").returncode == 0
    assert toolcast(tmp_path / "my-tools", "generate").returncode == 0
    return tmp_path / "my-tools"


def test_docs_mcp_client_configuration_starts_a_working_stdio_server(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_docs_mcp_client_configurations_have_the_servers_urls_and_variables(
    project: Path,
) -> None:
    server = (project / "generated/my_tools/mcp_server.py").read_text("utf-8")
    assert 'path="/mcp/"' in server
    variables = re.findall(r'_variable="(\w+)"', server)
    assert set(re.findall(r"\bMY_TOOLS_\w+", PAGE)) <= {
        *variables,
        "MY_TOOLS_TOKEN_CLIENT",
    }
    urls = {entry["url"] for entry in read_entries() if "url" in entry}
    assert urls == {"https://tools.example.org/mcp/"}
