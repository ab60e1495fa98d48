"""Import of several sources: conflicts, preferences and unreadable files."""

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
from toolcast.commands.import_ import merge_sources_or_exit
from toolcast.importing.conflicts import (
    list_conflicts,
    list_unresolved_conflicts,
    merge_sources,
    parse_preferences,
)
from toolcast.importing.formats import ToolSource
from toolcast.importing.source_file import parse_source, read_source

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


@pytest.fixture(autouse=True)
def _change_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the folder of the files, since messages contain their relative paths."""
    monkeypatch.chdir(FOLDER)


@pytest.fixture
def sources() -> list[ToolSource]:
    """Read the three files."""
    return [read_source(name) for name in FILES]


def exit_merge(
    capsys: pytest.CaptureFixture[str], sources: list[ToolSource], *preferences: str
) -> tuple[object, str]:
    """Merge sources with these preferences; return the exit code and the error."""
    with pytest.raises(SystemExit) as raised:
        merge_sources_or_exit(sources, preferences)
    return raised.value.code, capsys.readouterr().err


def test_import_counts_conflicts_that_remain_without_a_preferred_source(
    capsys: pytest.CaptureFixture[str], sources: list[ToolSource]
) -> None:
    """Tools with a preferred source are not counted, and the exit code is 1."""
    preferences = ("memory=3", "github_issue=tools.json")
    code, message = exit_merge(capsys, sources, *preferences)
    assert code == 1
    assert "9 conflicts in 8 tools; nothing was written\n" in message


def test_unknown_preferred_source_and_source_passed_twice_are_errors(
    capsys: pytest.CaptureFixture[str], sources: list[ToolSource]
) -> None:
    assert exit_merge(capsys, sources, "4") == (
        2,
        "error: --prefer: unknown source `4`\n"
        "  help: use one of `legacy_tools.json`, `tools.json`, `mcp_tools.json`\n",
    )
    message = "error: tools.json is passed twice\n  help: pass each source once\n"
    assert exit_merge(capsys, [sources[1], sources[1]]) == (2, message)


def test_import_reports_conflicts_resolved_by_a_preferred_source(
    capsys: pytest.CaptureFixture[str], sources: list[ToolSource]
) -> None:
    merged = merge_sources_or_exit(sources, ["3"])
    assert len(merged.listing.tools) == 10
    assert "search, add, delete, list" in capsys.readouterr().err


def test_equal_sources_need_no_preference(capsys: pytest.CaptureFixture[str]) -> None:
    """Their merge has the same tools; the merge of a single source is the source."""
    data = Path("tools.json").read_bytes()
    first, second = parse_source(data, "a.json"), parse_source(data, "b.json")
    merged = merge_sources_or_exit([first, second], [])
    assert merged.listing.tools == first.listing.tools
    assert capsys.readouterr().err == ""
    assert merge_sources_or_exit([first], []) is first


def test_import_json_report_has_each_conflict_with_its_values(
    capsys: pytest.CaptureFixture[str], sources: list[ToolSource]
) -> None:
    with pytest.raises(SystemExit) as raised:
        merge_sources_or_exit(sources, ["memory=tools.json"], "json")
    out, err = capsys.readouterr()
    assert (raised.value.code, err) == (1, "")
    report = json.loads(out)
    assert len(report["notes"]) == 3
    conflicts = report["conflicts"]
    assert [conflict["is_unresolved"] for conflict in conflicts].count(False) == 9
    [limit] = [c for c in conflicts if c["path"][-2:] == ["limit", "default"]]
    assert limit == {
        "tool": "memory",
        "path": ["parameters", "properties", "limit", "default"],
        "kind": "default",
        "values": {"mcp_tools.json": 10},
        "absent": ["legacy_tools.json", "tools.json"],
        "is_unresolved": False,
    }
    [email] = [conflict for conflict in conflicts if conflict["tool"] == "email"]
    assert (email["kind"], list(email["values"])) == ("tool", ["mcp_tools.json"])
    assert email["absent"] == ["legacy_tools.json", "tools.json"]


def test_conflicts_are_resolved_only_for_tools_with_a_preferred_source(
    sources: list[ToolSource],
) -> None:
    conflicts = list_conflicts(sources)
    others = [conflict for conflict in conflicts if conflict.tool != "memory"]
    for arguments, expected in (
        ([], conflicts),
        (["memory=mcp_tools.json"], others),
        (["3"], []),
    ):
        preferences = parse_preferences(arguments, sources)
        assert list_unresolved_conflicts(conflicts, preferences) == expected


def test_merge_uses_the_preferred_source_per_tool(sources: list[ToolSource]) -> None:
    preferences = parse_preferences(["mcp_tools.json", "memory=tools.json"], sources)
    merged = merge_sources(sources, preferences)
    assert len(merged.listing.tools) == 10
    memory, expected_memory = merged.find_tool("memory"), sources[1].find_tool("memory")
    assert memory == expected_memory
    assert merged.fields["memory"] == {
        "persistent": True,
        "always": True,
        "clients": ["internal", "external"],
        "service": "ledger",
    }
    expected_issue = sources[2].find_tool("github_issue")
    assert merged.find_tool("github_issue") == expected_issue


def test_merge_adds_fields_that_the_preferred_sources_format_does_not_have(
    sources: list[ToolSource],
) -> None:
    """Tools that the preferred source does not list are skipped with a note."""
    merged = merge_sources(sources, parse_preferences(["legacy_tools.json"], sources))
    assert merged.find_tool("memory") == {
        **(sources[0].find_tool("memory") or {}),
        "outputSchema": {"type": "object"},
        "annotations": {"destructiveHint": True},
    }
    assert merged.notes == tuple(
        f"`{name}` is skipped: legacy_tools.json does not list it"
        for name in ("get_personality", "email", "calendar", "contacts", "lists")
    )


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
