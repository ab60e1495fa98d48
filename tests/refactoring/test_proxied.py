"""Renames and removals of proxied tools: calls still use the server's tool names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.conftest import Project

from .conftest import read_files, run_command

TOOLSET = """\
proxy: disk
targets: {registry: {}}
mcp_servers:
  disk:
    command: disk-server
    args: [--root, /srv]
"""
READ = "summary: Reads a file.\nparameters: {type: object}\n"


@pytest.fixture
def files(make_project: Callable[..., Project]) -> Project:
    tools = {"read": READ, "write": READ.replace("Reads", "Writes")}
    return make_project(tools, toolset=TOOLSET)


def load_servers(project: Project) -> Any:
    text = (project.root / "specs/toy/toolset.yaml").read_text()
    return yaml.safe_load(text).get("mcp_servers")


def test_proxied_tool_rename_records_the_servers_tool_name(files: Project) -> None:
    before = read_files(files.root)
    run_command(files, "rename", "read", "look")
    assert load_servers(files)["disk"]["tools"] == {"read": "look"}
    run_command(files, "rename", "write", "store")
    assert load_servers(files)["disk"]["tools"] == {"read": "look", "write": "store"}
    run_command(files, "rename", "look", "see")
    assert load_servers(files)["disk"]["tools"] == {"read": "see", "write": "store"}
    run_command(files, "rename", "store", "write")
    run_command(files, "rename", "see", "read")
    after = read_files(files.root)
    assert after["specs/toy/toolset.yaml"] == before["specs/toy/toolset.yaml"]


def test_proxied_tool_rename_records_the_name_without_prefix(files: Project) -> None:
    files.edit("specs/toy/toolset.yaml", "  disk:\n", "  disk:\n    prefix: wr\n")
    run_command(files, "rename", "write", "wrote")
    assert load_servers(files)["disk"]["tools"] == {"ite": "wrote"}
    run_command(files, "rename", "wrote", "note")
    assert load_servers(files)["disk"]["tools"] == {"ite": "note"}


def test_removing_the_last_proxied_tool_removes_its_server(files: Project) -> None:
    # A server without proxied tools would be an external server that offers every tool.
    files.edit("specs/toy/toolset.yaml", "proxy: disk\n", "")
    files.edit("specs/toy/read.yaml", "summary: Reads", "proxy: disk\nsummary: Reads")
    files.edit("specs/toy/write.yaml", "summary: W", "proxy: disk\nsummary: W")
    run_command(files, "remove", "read", "--without-notice", "--force")
    server = {"command": "disk-server", "args": ["--root", "/srv"]}
    assert load_servers(files) == {"disk": server}
    run_command(files, "remove", "write", "--without-notice", "--force")
    assert load_servers(files) is None
