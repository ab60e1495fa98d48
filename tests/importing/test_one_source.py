"""Several sources become one, or every contradiction is told and nothing is decided."""

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
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str]:
    with pytest.raises(SystemExit) as end:
        merge_sources_or_exit([read_source(name) for name in FILES], words)
    return end.value.code, capsys.readouterr().err


def test_every_contradiction_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """`REGENERATE=1` writes the report; read it as a user would."""
    code, told = ended(capsys)
    expected = FOLDER / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(told, "utf-8")
    assert (code, told) == (1, expected.read_text("utf-8"))


def test_what_is_left_undecided_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = ended(capsys, "memory=3", "github_issue=tools.json")
    assert code == 1
    assert "9 conflicts in 8 tools; nothing was written\n" in told


def test_a_choice_that_names_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, told = ended(capsys, "4")
    assert (code, told) == (
        2,
        "error: --prefer: unknown source `4`\n"
        "  help: use one of `legacy_tools.json`, `tools.json`, `mcp_tools.json`\n",
    )


def test_once_decided_there_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    merged = merge_sources_or_exit([read_source(name) for name in FILES], ["3"])
    assert len(merged.listing.tools) == 10
    # What was decided is told all the same.
    assert "search, add, delete, list" in capsys.readouterr().err


def test_sources_that_agree_need_no_choice(capsys: pytest.CaptureFixture[str]) -> None:
    data = Path("tools.json").read_bytes()

    one, other = parse_source(data, "a.json"), parse_source(data, "b.json")
    assert merge_sources_or_exit([one, other], []).listing.tools == one.listing.tools
    assert capsys.readouterr().err == ""


def test_one_source_is_itself() -> None:
    source = read_source("tools.json")
    assert merge_sources_or_exit([source], []) is source


def test_a_source_given_twice(capsys: pytest.CaptureFixture[str]) -> None:
    source = read_source("tools.json")
    with pytest.raises(SystemExit):
        merge_sources_or_exit([source, source], [])
    assert (
        capsys.readouterr().err
        == "error: tools.json is passed twice\n  help: pass each source once\n"
    )


def test_a_program_reads_every_contradiction(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        merge_sources_or_exit(
            [read_source(name) for name in FILES], ["memory=tools.json"], "json"
        )
    out, err = capsys.readouterr()
    assert (end.value.code, err) == (1, "")
    told = json.loads(out)
    assert len(told["notes"]) == 3
    assert [one["is_unresolved"] for one in told["conflicts"]].count(False) == 9
    [limit] = [
        one for one in told["conflicts"] if one["path"][-2:] == ["limit", "default"]
    ]
    assert limit == {
        "tool": "memory",
        "path": ["parameters", "properties", "limit", "default"],
        "kind": "default",
        "values": {"mcp_tools.json": 10},
        "absent": ["legacy_tools.json", "tools.json"],
        "is_unresolved": False,
    }
    [email] = [one for one in told["conflicts"] if one["tool"] == "email"]
    assert list(email["values"]) == ["mcp_tools.json"]
    assert email["absent"] == ["legacy_tools.json", "tools.json"]
