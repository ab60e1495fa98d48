"""Comparison of two releases of real MCP servers, checked against their changelogs.

`changelog.yaml` has the changelog's entries about tools with the changes that report them; `more`
has changes that the changelog does not mention. `summary.md` is the beginning of the Markdown
report; `REGENERATE=1` updates it. The schemas depend on the server's dependencies, so `about`
of a list has their versions.
"""

from __future__ import annotations

import datetime
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.diff.histories.releases import FOLDER, HISTORIES, release
from toolcast.diff.change import Grade
from toolcast.diff.comparison import Comparison, compare, load_change_rules
from toolcast.diff.review.verdict import judge, parse_limits
from toolcast.model.model import Workspace
from toolcast.reports.formats import report_changes
from toolcast.reports.item import ReportContext

TODAY = datetime.date(2026, 11, 22)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that loads and compares both releases of a server."""

    @cache
    def of(server: str) -> tuple[tuple[Workspace, Workspace], Comparison]:
        root = tmp_path_factory.mktemp(server)
        sides = release(server, "old", root / "old"), release(
            server, "new", root / "new"
        )
        return sides, compare(*sides, TODAY)

    return of


def test_there_are_nine() -> None:
    assert len(HISTORIES) == 9


@pytest.mark.rows(4)
@pytest.mark.parametrize("server", HISTORIES)
def test_it_says_what_the_changelog_says_and_more(server: str, compared: Any) -> None:
    said = _changelog(server)
    comparison = compared(server)[1]
    lines = [f"{change.tool}: {change.message}" for change in comparison.changes]
    expected = [shown for one in said["said"] for shown in one["shown"]]
    assert expected
    for text in [*expected, *said["more"]]:
        tool, colon, words = text.partition(": ")
        assert any(
            (not colon or line.startswith(f"{tool}: ")) and (words or text) in line
            for line in lines
        ), f"{text!r} is not in\n" + "\n".join(lines)
    effects = [effect.message for effect in comparison.effects]
    for text in said["effects"]:
        assert any(text in effect for effect in effects), text


@pytest.mark.parametrize("server", HISTORIES)
def test_the_summary_of_the_markdown(server: str, compared: Any) -> None:
    sides, comparison = compared(server)
    verdict = judge(
        comparison,
        sides,
        "the old release",
        limits=parse_limits("breaking"),
        acceptances=[],
        known=load_change_rules(()),
        today=TODAY,
    )
    page = report_changes(verdict, "markdown", ReportContext(sides[1].root))
    for change in comparison.changes:
        if change.grades.worst is not Grade.SAFE:
            assert f"/{change.tool}`" in page or not change.tool
    summary = page.partition("\n<details")[0].rstrip() + "\n"
    file: Path = FOLDER / server / "summary.md"
    if os.environ.get("REGENERATE"):
        file.write_text(summary, encoding="utf-8")
    assert summary == file.read_text(encoding="utf-8")


def _changelog(server: str) -> Any:
    text = (FOLDER / server / "changelog.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
