"""`toolcast import` of several sources, and of sources that are none: what is written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project
from toolcast.model.loading import load_workspace

FOLDER = Path(__file__).parent / "kirishima"
FILES = ("legacy_tools.json", "tools.json", "mcp_tools.json")
EMPTY = "summary: Does it.\nparameters: {type: object}\n"


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    made = make_project({"ping": EMPTY}, toolset="targets: {mcp: {}}\n")
    for name in FILES:
        shutil.copy(FOLDER / name, made.root / name)
    return made


def files(project: Project) -> dict[str, bytes]:
    return {
        str(path.relative_to(project.root)): path.read_bytes()
        for path in sorted(project.root.rglob("*"))
        if path.is_file()
    }


def test_nothing_is_written_before_a_source_is_chosen(project: Project) -> None:
    before = files(project)
    done = project.toolcast("import", *FILES, "--toolset", "assistant")
    assert done.returncode == 1
    assert done.stderr == (FOLDER / "expected.txt").read_text("utf-8")
    assert files(project) == before


def test_what_the_chosen_source_says_is_written(project: Project) -> None:
    chosen = ("--prefer", "mcp_tools.json", "--prefer", "smarthome=1")
    words = ("import", *FILES, "--toolset", "assistant", *chosen)
    done = project.toolcast(*words)
    assert done.returncode == 0, done.stderr
    workspace, findings = load_workspace(str(project.root))
    assert workspace is not None, findings
    toolset = next(one for one in workspace.toolsets if one.name == "assistant")
    assert sorted(tool.name for tool in toolset.tools) == [
        "calendar",
        "contacts",
        "email",
        "get_personality",
        "github_issue",
        "lists",
        "manage_prompt",
        "memory",
        "smarthome",
        "stickynotes",
    ]
    memory = next(tool for tool in toolset.tools if tool.name == "memory")
    assert memory.parameters["properties"]["min_keywords"]["default"] == 2
    assert "add" not in memory.parameters["properties"]["action"]["enum"]
    assert memory.annotations == {"destructiveHint": True}
    assert (memory.always, memory.persistent, memory.service) == (True, True, "ledger")
    before = files(project)
    again = project.toolcast(*words)
    assert again.returncode == 0, again.stderr
    assert files(project) == before


@pytest.mark.parametrize("name", ["../../x", "a\x1b", "a" * 10_000])
def test_hostile_names_are_refused(name: str, project: Project) -> None:
    project.write("list.json", json.dumps([{"name": name, "inputSchema": {}}]))
    before = files(project)
    done = project.toolcast("import", "list.json", "--toolset", "toy")
    assert done.returncode == 2
    assert done.stderr.startswith("error: list.json: `")
    assert "\x1b" not in done.stderr and len(done.stderr) < 1000
    assert files(project) == before


def test_all_that_is_wrong_is_told_at_once(project: Project) -> None:
    project.write("cut.json", '[{"name": ')
    project.write("page.json", "<html>")
    os.mkfifo(project.root / "pipe")
    before = files(project)
    given = ("cut.json", "page.json", "pipe", "specs", "nothing.json", "tools.json")
    done = project.toolcast("import", *given, "--toolset", "toy")
    assert done.returncode == 2
    for told in (
        "cut.json:1:11: not JSON: Expecting value",
        "page.json:1:1: not JSON: Expecting value",
        "the file is a web page",
        "pipe: this is a pipe, not a regular file",
        "specs: this is a folder, not a regular file",
        "nothing.json: No such file or directory",
    ):
        assert told in done.stderr
    assert files(project) == before
