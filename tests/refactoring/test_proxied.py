"""A tool that a server answers has another name: the server is called as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml

from tests.conftest import Project

from .conftest import contents, run

TOOLSET = """\
proxy: disk
targets: {registry: {}}
mcp_servers:
  disk:
    command: disk-server
    args: [--root, /srv]
"""
READ = """\
summary: Reads a file.
parameters: {type: object}
"""
OTHER = """\
name: other
title: Other
handlers: handlers
targets: {registry: {}}
"""


@pytest.fixture
def files(make_project: Callable[..., Project]) -> Project:
    tools = {"read": READ, "write": READ.replace("Reads", "Writes")}
    project = make_project(tools, toolset=TOOLSET)
    project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy, specs/other]")
    project.write("specs/other/toolset.yaml", OTHER)
    project.write("specs/other/ping.yaml", "name: ping\n" + READ)
    return project


def servers(project: Project, toolset: str = "toy") -> Any:
    text = project.root.joinpath(f"specs/{toolset}/toolset.yaml").read_text()
    return yaml.safe_load(text).get("mcp_servers")


def test_a_renamed_tool_is_called_by_the_servers_own_name(files: Project) -> None:
    before = contents(files.root)
    run(files, "rename", "read", "look")
    assert servers(files)["disk"]["tools"] == {"read": "look"}
    run(files, "rename", "write", "store")
    assert servers(files)["disk"]["tools"] == {"read": "look", "write": "store"}
    run(files, "rename", "look", "see")
    assert servers(files)["disk"]["tools"] == {"read": "see", "write": "store"}
    run(files, "rename", "store", "write")
    run(files, "rename", "see", "read")
    after = contents(files.root)
    assert after["specs/toy/toolset.yaml"] == before["specs/toy/toolset.yaml"]


def test_a_prefix_is_not_taken_for_a_part_of_the_servers_name(files: Project) -> None:
    files.edit("specs/toy/toolset.yaml", "  disk:\n", "  disk:\n    prefix: wr\n")
    run(files, "rename", "write", "wrote")
    assert servers(files)["disk"]["tools"] == {"ite": "wrote"}
    run(files, "rename", "wrote", "note")
    assert servers(files)["disk"]["tools"] == {"ite": "note"}


def test_a_server_that_answers_nothing_more_goes_with_its_last_tool(
    files: Project,
) -> None:
    # It would be an external server, all of whose tools are offered.
    files.edit("specs/toy/toolset.yaml", "proxy: disk\n", "")
    files.edit("specs/toy/read.yaml", "summary: Reads", "proxy: disk\nsummary: Reads")
    files.edit("specs/toy/write.yaml", "summary: W", "proxy: disk\nsummary: W")
    run(files, "remove", "read", "--without-notice", "--force")
    assert servers(files) == {
        "disk": {"command": "disk-server", "args": ["--root", "/srv"]}
    }
    run(files, "remove", "write", "--without-notice", "--force")
    assert servers(files) is None
