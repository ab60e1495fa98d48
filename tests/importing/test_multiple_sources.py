"""`toolcast import` with several files: conflicts, preferences and unreadable files."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.importing.imports import load_toolset
from tests.refactoring.conftest import read_files

FOLDER = Path(__file__).parent / "kirishima"
FILES = ("legacy_tools.json", "tools.json", "mcp_tools.json")
EMPTY = "summary: Does it.\nparameters: {type: object}\n"


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    """Create a project next to three files that describe the same tools."""
    project = make_project({"ping": EMPTY}, toolset="targets: {mcp: {}}\n")
    for name in FILES:
        shutil.copy(FOLDER / name, project.root / name)
    return project


def test_conflicting_import_sources_require_a_preference(project: Project) -> None:
    """Without it, all conflicts are listed and no file is written.

    `REGENERATE=1` writes the expected file; review its changes.
    """
    before = read_files(project.root)
    result = project.toolcast("import", *FILES, "--toolset", "assistant")
    expected = FOLDER / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(result.stderr, "utf-8")
    assert (result.returncode, result.stderr) == (1, expected.read_text("utf-8"))
    assert read_files(project.root) == before


def test_import_writes_specs_from_the_preferred_source(project: Project) -> None:
    """A second import changes no file."""
    preferences = ("--prefer", "mcp_tools.json", "--prefer", "smarthome=1")
    arguments = ("import", *FILES, "--toolset", "assistant", *preferences)
    result = project.toolcast(*arguments)
    assert result.returncode == 0, result.stderr
    toolset = load_toolset(project.root, "assistant")
    assert (
        sorted(tool.name for tool in toolset.tools)
        == (
            "calendar contacts email get_personality github_issue lists manage_prompt memory"
            " smarthome stickynotes"
        ).split()
    )
    memory = next(tool for tool in toolset.tools if tool.name == "memory")
    assert memory.parameters["properties"]["min_keywords"]["default"] == 2
    assert "add" not in memory.parameters["properties"]["action"]["enum"]
    assert memory.annotations == {"destructiveHint": True}
    assert (memory.always, memory.persistent, memory.service) == (True, True, "ledger")
    before = read_files(project.root)
    second_import = project.toolcast(*arguments)
    assert second_import.returncode == 0, second_import.stderr
    assert read_files(project.root) == before


@pytest.mark.parametrize("name", ["../../x", "a\x1b", "a" * 10_000])
def test_invalid_name_error_is_short_and_escaped(name: str, project: Project) -> None:
    project.write("list.json", json.dumps([{"name": name, "inputSchema": {}}]))
    before = read_files(project.root)
    result = project.toolcast("import", "list.json", "--toolset", "toy")
    assert result.returncode == 2
    assert result.stderr.startswith("error: list.json: `")
    assert "\x1b" not in result.stderr and len(result.stderr) < 1000
    assert read_files(project.root) == before


def test_import_reports_all_unreadable_sources_together(project: Project) -> None:
    project.write("cut.json", '[{"name": ')
    project.write("page.json", "<html>")
    os.mkfifo(project.root / "pipe")
    before = read_files(project.root)
    sources = ("cut.json", "page.json", "pipe", "specs", "nothing.json", "tools.json")
    result = project.toolcast("import", *sources, "--toolset", "toy")
    assert result.returncode == 2
    for message in (
        "cut.json:1:11: not JSON: Expecting value",
        "page.json:1:1: not JSON: Expecting value",
        "the file is a web page",
        "pipe: this is a pipe, not a regular file",
        "specs: this is a folder, not a regular file",
        "nothing.json: No such file or directory",
    ):
        assert message in result.stderr
    assert read_files(project.root) == before
