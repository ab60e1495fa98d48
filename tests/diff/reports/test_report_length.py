"""Length of reports compared to `git diff`, and the order of their changes."""

from __future__ import annotations

import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.imported import import_tools
from tests.diff.histories.releases import HISTORIES, load_release
from tests.diff.reports.layout import judge_changes
from tests.diff.single_changes import load_project
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace
from toolcast.reports.formats import report_changes
from toolcast.reports.item import ReportContext

TOOL_COUNT = 25
REPEATED = 67


def count_git_diff_lines(root: Path) -> int:
    """Return the number of lines of `git diff` for the specs of two releases."""
    command = ["git", "diff", "--no-index", "old/specs", "new/specs"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    return len(done.stdout.splitlines())


@pytest.mark.slow
def test_release_report_is_at_most_half_as_long_as_git_diff(tmp_path: Path) -> None:
    ratios = []
    for server in HISTORIES:
        root = tmp_path / server
        versions = [load_release(server, name, root / name) for name in ("old", "new")]
        verdict = judge_changes(*versions)
        # A change of only a text is never breaking.
        assert [item for item in verdict.changes if item.fails == ("prompt",)] == []
        text = report_changes(verdict, "text", ReportContext(versions[1].root))
        ratios.append(len(text.splitlines()) / count_git_diff_lines(root))
    assert max(ratios) <= 0.5
    assert statistics.median(ratios) <= 0.4


def build_tool(index: int, *, is_new: bool) -> dict[str, Any]:
    """Return a tool of a server before or after an update of its schema library."""
    count = REPEATED // TOOL_COUNT + (index < REPEATED % TOOL_COUNT)
    properties: dict[str, Any] = {}
    for number in range(count):
        text = f"Filters the answers by the field {number} of kind {index}."
        # The old schema library repeats the description in the inner schema.
        inner = {"type": "string", **({} if is_new else {"description": text})}
        schema = {"anyOf": [inner, {"type": "null"}], "description": text}
        properties[f"filter_{number}"] = {**schema, "default": None}
    properties["project"] = {"type": "string", "description": "Its short name."}
    properties["limit"] = {"type": "integer", "maximum": 100}
    if is_new:
        properties["region"] = {"type": "string", "description": "Of the account."}
    if is_new and index == 11:
        properties["limit"]["maximum"] = 50
    required = ["project"] if is_new and index == 17 else []
    closed = {"type": "object", "additionalProperties": False}
    return {
        "name": f"find_kind_{index}",
        "description": f"Finds what is of kind {index} in a project.",
        "inputSchema": {**closed, "properties": properties, "required": required},
    }


def test_diff_report_lists_breaking_changes_before_safe_changes(tmp_path: Path) -> None:
    """Two breaking changes are in the first ten lines, before an update of 25 tools."""
    versions = []
    for folder, is_new in (("old", False), ("new", True)):
        root = tmp_path / folder
        root.mkdir()
        tools = [build_tool(index, is_new=is_new) for index in range(TOOL_COUNT)]
        import_tools(root, "finder", tools)
        loaded = load_workspace(str(root))
        assert loaded.workspace is not None
        versions.append(loaded.workspace)
    verdict = judge_changes(*versions)
    changes = [reported.change for reported in verdict.changes]
    removed = [c for c in changes if c.rule.id == "parameter/description-removed"]
    assert len(removed) == REPEATED
    assert {grade.label for change in removed for grade in change.grades} == {"safe"}
    assert verdict.failing == 2
    text = report_changes(verdict, "text", ReportContext())
    lines = text.splitlines()
    assert len(lines) <= 50
    assert len(lines) <= 0.1 * count_git_diff_lines(tmp_path)
    first_lines = [line for line in lines[:10] if line.startswith("  find_kind_")]
    names = [line.split(":")[0].strip() for line in first_lines]
    assert names == ["find_kind_11", "find_kind_17"]
    assert text.count("`region` is new") == 1
    for index in range(TOOL_COUNT):
        assert f"find_kind_{index}" in text
    comment = report_changes(verdict, "markdown", ReportContext())
    assert comment.index("find_kind_17") < comment.index("<details")
    assert len(report_changes(verdict, "github", ReportContext()).splitlines()) == 2
    report = json.loads(report_changes(verdict, "json", ReportContext()))
    assert len(report["changes"]) == REPEATED + TOOL_COUNT + 2


def test_diff_report_names_a_parameter_that_is_named_like_its_tool() -> None:
    """Grouping omits the tool's name in messages, but not an equal parameter name."""

    def workspace(*names: str) -> Workspace:
        properties = {name: {"type": "string"} for name in names}
        tool = {"parameters": {"type": "object", "properties": properties}}
        files = {"query": tool, "other/toolset": {"name": "other"}, "other/query": tool}
        return load_project({"workspace": {"toolsets": ["toy", "other"]}, **files})

    verdict = judge_changes(workspace("query", "x"), workspace("x"))
    text = report_changes(verdict, "text", ReportContext())
    assert "2 tools: `query` is removed" in text


def test_diff_report_with_all_changes_has_every_fingerprint(tmp_path: Path) -> None:
    pair = [load_release("git", name, tmp_path / name) for name in ("old", "new")]
    verdict = judge_changes(*pair)
    full = report_changes(verdict, "text", ReportContext(shows_all=True))
    changes = [reported.change for reported in verdict.changes]
    assert all(c.fingerprint in full for c in changes if c.grades.worst > 0)
    short = report_changes(verdict, "text", ReportContext())
    assert len(short.splitlines()) < len(full.splitlines())
