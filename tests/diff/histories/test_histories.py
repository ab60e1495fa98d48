"""Comparison of two releases of real MCP servers, checked against their changelogs.

`changelog.yaml` has the changelog's entries about tools with the changes that report them; `more`
has changes that the changelog does not mention. `summary.md` is the beginning of the Markdown
report; `REGENERATE=1` updates it. The schemas depend on the server's dependencies, so `about`
of a list has their versions.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.diff.histories.releases import FOLDER, HISTORIES, load_release
from tests.diff.reports.layout import TODAY, judge_changes
from toolcast.diff.change import Grade
from toolcast.diff.comparison import compare
from toolcast.reports.formats import report_changes
from toolcast.reports.item import ReportContext


def test_toolcast_diff_is_tested_with_nine_mcp_server_histories() -> None:
    assert len(HISTORIES) == 9


@pytest.mark.parametrize("server", HISTORIES)
def test_diff_between_server_releases_reports_each_changelog_entry(
    server: str, tmp_path: Path
) -> None:
    """Effects on clients and the Markdown summary are as expected, too."""
    versions = (
        load_release(server, "old", tmp_path / "old"),
        load_release(server, "new", tmp_path / "new"),
    )
    comparison = compare(*versions, TODAY)
    changelog = _load_changelog(server)
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
    verdict = judge_changes(*versions, comparison)
    page = report_changes(verdict, "markdown", ReportContext(versions[1].root))
    for change in comparison.changes:
        if change.grades.worst is not Grade.SAFE:
            assert f"/{change.tool}`" in page or not change.tool
    summary = page.partition("\n<details")[0].rstrip() + "\n"
    file = FOLDER / server / "summary.md"
    if os.environ.get("REGENERATE"):
        file.write_text(summary, encoding="utf-8")
    assert summary == file.read_text(encoding="utf-8")


def _load_changelog(server: str) -> Any:
    text = (FOLDER / server / "changelog.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)
