"""Length of reports compared to `git diff`, and the order of their changes."""

from __future__ import annotations

import datetime
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

from tests.corpus.imported import import_tools
from tests.diff.histories.releases import HISTORIES, release
from tests.diff.single_changes import load_project
from toolcast.diff.comparison import compare, load_change_rules
from toolcast.diff.review.verdict import Verdict, judge, parse_limits
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace
from toolcast.reports.formats import report_changes
from toolcast.reports.item import ReportContext

TODAY = datetime.date(2026, 11, 22)
TOOLS = 25
DOUBLED = 67


def judged(before: Workspace, after: Workspace) -> Verdict:
    return judge(
        compare(before, after, TODAY),
        (before, after),
        "the old release",
        limits=parse_limits("breaking"),
        acceptances=[],
        known=load_change_rules(()),
        today=TODAY,
    )


def lines_of_git(root: Path) -> int:
    """Return the number of lines of `git diff` for the specs of two releases."""
    done = subprocess.run(
        ["git", "diff", "--no-index", "old/specs", "new/specs"],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    return len(done.stdout.splitlines())


def test_real_releases_are_shorter_than_their_lines(tmp_path: Path) -> None:
    parts = []
    for server in HISTORIES:
        root = tmp_path / server
        sides = release(server, "old", root / "old"), release(
            server, "new", root / "new"
        )
        verdict = judged(*sides)
        # A changed text alone is never breaking.
        assert [one for one in verdict.changes if one.fails == ("prompt",)] == []
        text = report_changes(verdict, "text", ReportContext(sides[1].root))
        parts.append(len(text.splitlines()) / lines_of_git(root))
    assert max(parts) <= 0.5
    assert statistics.median(parts) <= 0.4


def nullable(text: str, *, doubled: bool) -> dict[str, Any]:
    """Return an optional parameter as schema libraries write it.

    Args:
        text: the description.
        doubled: whether the inner schema repeats the description.
    """
    inner = {"type": "string", **({"description": text} if doubled else {})}
    return {"anyOf": [inner, {"type": "null"}], "description": text, "default": None}


def refactored(index: int, *, is_new: bool) -> dict[str, Any]:
    """Return a tool of a server before or after an update of its schema library."""
    count = DOUBLED // TOOLS + (index < DOUBLED % TOOLS)
    properties: dict[str, Any] = {
        f"filter_{number}": nullable(
            f"Filters the answers by the field {number} of kind {index}.",
            doubled=not is_new,
        )
        for number in range(count)
    }
    properties["project"] = {"type": "string", "description": "Its short name."}
    properties["limit"] = {"type": "integer", "maximum": 100}
    if is_new:
        properties["region"] = {"type": "string", "description": "Of the account."}
    if is_new and index == 11:
        properties["limit"]["maximum"] = 50
    required = ["project"] if is_new and index == 17 else []
    return {
        "name": f"find_kind_{index}",
        "description": f"Finds what is of kind {index} in a project.",
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        },
    }


def test_two_that_break_stand_above_a_refactoring(tmp_path: Path) -> None:
    """The report of a public server's commit had its breaking changes on lines 754 and 796."""
    sides = []
    for folder, is_new in (("old", False), ("new", True)):
        root = tmp_path / folder
        root.mkdir()
        tools = [refactored(index, is_new=is_new) for index in range(TOOLS)]
        import_tools(root, "finder", tools)
        loaded = load_workspace(str(root))
        assert loaded.workspace is not None
        sides.append(loaded.workspace)
    verdict = judged(*sides)
    removed = [
        one.change
        for one in verdict.changes
        if one.change.rule.id == "parameter/description-removed"
    ]
    assert len(removed) == DOUBLED
    assert {grade.label for change in removed for grade in change.grades} == {"safe"}
    assert verdict.failing == 2
    text = report_changes(verdict, "text", ReportContext())
    lines = text.splitlines()
    assert len(lines) <= 50
    assert len(lines) <= 0.1 * lines_of_git(tmp_path)
    told = [line for line in lines[:10] if line.startswith("  find_kind_")]
    assert [line.split(":")[0].strip() for line in told] == [
        "find_kind_11",
        "find_kind_17",
    ]
    assert text.count("`region` is new") == 1
    for index in range(TOOLS):
        assert f"find_kind_{index}" in text
    comment = report_changes(verdict, "markdown", ReportContext())
    assert comment.index("find_kind_17") < comment.index("<details")
    assert len(report_changes(verdict, "github", ReportContext()).splitlines()) == 2
    whole = json.loads(report_changes(verdict, "json", ReportContext()))
    assert len(whole["changes"]) == DOUBLED + TOOLS + 2


def test_a_parameter_that_is_called_like_its_tools_keeps_its_name() -> None:
    def side(*names: str) -> Workspace:
        properties = {name: {"type": "string"} for name in names}
        tool = {"parameters": {"type": "object", "properties": properties}}
        files = {"query": tool, "other/toolset": {"name": "other"}, "other/query": tool}
        return load_project({"workspace": {"toolsets": ["toy", "other"]}, **files})

    text = report_changes(
        judged(side("query", "x"), side("x")), "text", ReportContext()
    )
    assert "2 tools: `query` is removed" in text


def test_each_change_can_be_printed_by_itself(tmp_path: Path) -> None:
    root = tmp_path
    sides = release("git", "old", root / "old"), release("git", "new", root / "new")
    verdict = judged(*sides)
    every = report_changes(verdict, "text", ReportContext(shows_all=True))
    assert all(
        one.change.fingerprint in every
        for one in verdict.changes
        if one.change.grades.worst > 0
    )
    short = report_changes(verdict, "text", ReportContext())
    assert len(short.splitlines()) < len(every.splitlines())
