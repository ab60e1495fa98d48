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

from tests.diff.histories.releases import FOLDER, HISTORIES, load_release
from toolcast.diff.change import Grade
from toolcast.diff.comparison import Comparison, compare, load_change_rules
from toolcast.diff.review.verdict import judge, parse_limits
from toolcast.model.model import Workspace
from toolcast.reports.formats import report_changes
from toolcast.reports.item import ReportContext

TODAY = datetime.date(2026, 11, 22)


@pytest.fixture(scope="module")
def compare_releases(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that loads and compares both releases of a server."""

    @cache
    def compare_server(server: str) -> tuple[tuple[Workspace, Workspace], Comparison]:
        root = tmp_path_factory.mktemp(server)
        versions = load_release(server, "old", root / "old"), load_release(
            server, "new", root / "new"
        )
        return versions, compare(*versions, TODAY)

    return compare_server


def test_toolcast_diff_is_tested_with_nine_mcp_server_histories() -> None:
    assert len(HISTORIES) == 9


@pytest.mark.rows(4)
@pytest.mark.parametrize("server", HISTORIES)
def test_toolcast_diff_between_two_server_releases_reports_every_changelog_entry(
    server: str, compare_releases: Any
) -> None:
    changelog = _load_changelog(server)
    comparison = compare_releases(server)[1]
    lines = [f"{change.tool}: {change.message}" for change in comparison.changes]
    expected = [message for entry in changelog["said"] for message in entry["shown"]]
    assert expected
    for text in [*expected, *changelog["more"]]:
        tool, colon, detail = text.partition(": ")
        assert any(
            (not colon or line.startswith(f"{tool}: ")) and (detail or text) in line
            for line in lines
        ), f"{text!r} is not in\n" + "\n".join(lines)
    effects = [effect.message for effect in comparison.effects]
    for text in changelog["effects"]:
        assert any(text in effect for effect in effects), text


@pytest.mark.parametrize("server", HISTORIES)
def test_toolcast_diff_between_two_server_releases_has_the_expected_markdown_summary(
    server: str, compare_releases: Any
) -> None:
    versions, comparison = compare_releases(server)
    verdict = judge(
        comparison,
        versions,
        "the old release",
        limits=parse_limits("breaking"),
        acceptances=[],
        known=load_change_rules(()),
        today=TODAY,
    )
    page = report_changes(verdict, "markdown", ReportContext(versions[1].root))
    for change in comparison.changes:
        if change.grades.worst is not Grade.SAFE:
            assert f"/{change.tool}`" in page or not change.tool
    summary = page.partition("\n<details")[0].rstrip() + "\n"
    file: Path = FOLDER / server / "summary.md"
    if os.environ.get("REGENERATE"):
        file.write_text(summary, encoding="utf-8")
    assert summary == file.read_text(encoding="utf-8")


def _load_changelog(server: str) -> Any:
    text = (FOLDER / server / "changelog.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
