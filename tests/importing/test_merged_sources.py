"""Merge of several sources: conflicts without a preference end the command."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from toolcast.commands.import_ import merge_sources_or_exit
from toolcast.importing.source_file import parse_source, read_source

FOLDER = Path(__file__).parent / "kirishima"
FILES = ("legacy_tools.json", "tools.json", "mcp_tools.json")


@pytest.fixture(autouse=True)
def _change_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the folder of the files, since messages contain their relative paths."""
    monkeypatch.chdir(FOLDER)


def exit_merge(
    capsys: pytest.CaptureFixture[str], *preferences: str
) -> tuple[object, str]:
    """Merge the files with these preferences; return the exit code and the error."""
    with pytest.raises(SystemExit) as raised:
        merge_sources_or_exit([read_source(name) for name in FILES], preferences)
    return raised.value.code, capsys.readouterr().err


def test_import_conflict_report_equals_the_expected_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`REGENERATE=1` writes the file; review its changes."""
    code, message = exit_merge(capsys)
    expected = FOLDER / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(message, "utf-8")
    assert (code, message) == (1, expected.read_text("utf-8"))


def test_import_counts_conflicts_that_remain_without_a_preferred_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tools with a preferred source are not counted, and the exit code is 1."""
    code, message = exit_merge(capsys, "memory=3", "github_issue=tools.json")
    assert code == 1
    assert "9 conflicts in 8 tools; nothing was written\n" in message


def test_unknown_preferred_import_source_is_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, message = exit_merge(capsys, "4")
    assert (code, message) == (
        2,
        "error: --prefer: unknown source `4`\n"
        "  help: use one of `legacy_tools.json`, `tools.json`, `mcp_tools.json`\n",
    )


def test_import_reports_conflicts_resolved_by_a_preferred_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    merged = merge_sources_or_exit([read_source(name) for name in FILES], ["3"])
    assert len(merged.listing.tools) == 10

    assert "search, add, delete, list" in capsys.readouterr().err


def test_equal_import_sources_need_no_preference(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Their merge has the same tools and reports no conflict."""
    data = Path("tools.json").read_bytes()

    first, second = parse_source(data, "a.json"), parse_source(data, "b.json")
    assert (
        merge_sources_or_exit([first, second], []).listing.tools == first.listing.tools
    )
    assert capsys.readouterr().err == ""


def test_merging_a_single_tool_list_returns_it_unchanged() -> None:
    source = read_source("tools.json")
    assert merge_sources_or_exit([source], []) is source


def test_import_source_passed_twice_is_an_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = read_source("tools.json")
    with pytest.raises(SystemExit):
        merge_sources_or_exit([source, source], [])
    assert (
        capsys.readouterr().err
        == "error: tools.json is passed twice\n  help: pass each source once\n"
    )


def test_import_json_report_has_each_conflict_with_its_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as raised:
        merge_sources_or_exit(
            [read_source(name) for name in FILES], ["memory=tools.json"], "json"
        )
    out, err = capsys.readouterr()
    assert (raised.value.code, err) == (1, "")
    report = json.loads(out)
    assert len(report["notes"]) == 3
    assert [conflict["is_unresolved"] for conflict in report["conflicts"]].count(
        False
    ) == 9
    [limit] = [
        conflict
        for conflict in report["conflicts"]
        if conflict["path"][-2:] == ["limit", "default"]
    ]
    assert limit == {
        "tool": "memory",
        "path": ["parameters", "properties", "limit", "default"],
        "kind": "default",
        "values": {"mcp_tools.json": 10},
        "absent": ["legacy_tools.json", "tools.json"],
        "is_unresolved": False,
    }
    [email] = [
        conflict for conflict in report["conflicts"] if conflict["tool"] == "email"
    ]
    assert list(email["values"]) == ["mcp_tools.json"]
    assert email["absent"] == ["legacy_tools.json", "tools.json"]
