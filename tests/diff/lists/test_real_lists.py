"""`toolcast diff OLD NEW` for tool lists of real servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.diff.histories.releases import FOLDER, HISTORIES
from tests.diff.lists.test_two_lists import compare
from tests.module_graph import ROOT
from tests.program import toolcast


@pytest.mark.rows(3)
@pytest.mark.parametrize("server", HISTORIES)
def test_toolcast_diff_does_not_fail_for_text_changes_in_mcp_server_releases(
    server: str, tmp_path: Path
) -> None:
    lists = (str(FOLDER / server / "old.json"), str(FOLDER / server / "new.json"))
    report = compare(tmp_path, *lists)
    assert report["changes"]
    assert not [change for change in report["changes"] if change["fails"] == ["prompt"]]
    assert "Traceback" not in json.dumps(report)


@pytest.mark.slow
def test_toolcast_diff_between_a_public_mcp_tool_list_and_itself_has_no_change(
    tmp_path: Path,
) -> None:
    for file in sorted((ROOT / "tests/corpus/mcp").glob("*.json")):
        done = toolcast(tmp_path, "diff", str(file), str(file))
        assert done.returncode == 0, (file, done.stderr)
        assert done.stdout == f"no change against {file}\n"
