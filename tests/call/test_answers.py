"""Answers of tools as a person reads them: a folder each, with what is printed.

`REGENERATE=1` writes what is printed; read it as a user would.
"""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest

from toolcast.commands.call.result_format import format_raw_json, print_call_result

CASES = sorted((Path(__file__).parent / "answers").iterdir())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_answer_is_shown(
    case: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = json.loads((case / "answer.json").read_text("utf-8"))
    is_done = print_call_result(answer, "draw/../it", ".")
    out, err = capsys.readouterr()
    files = "".join(
        f"{file.name}: {file.read_bytes()!r}\n" for file in sorted(tmp_path.iterdir())
    )
    shown = f"{out}---\n{err}---\n{files}exit {0 if is_done else 1}\n"
    expected = case / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(shown, "utf-8")
    assert shown == expected.read_text("utf-8")
    assert all(one.isprintable() for one in shown.replace("\n", ""))


def test_tables_stay_within_80_columns() -> None:
    for name in ("records", "object_with_records"):
        text = (Path(__file__).parent / "answers" / name / "expected.txt").read_text(
            "utf-8"
        )
        for line in text.splitlines():
            wide = sum(unicodedata.east_asian_width(one) in "WF" for one in line)
            assert len(line) + wide <= 80, line


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_raw_answer_is_the_same_value_and_harmless(case: Path) -> None:
    answer = json.loads((case / "answer.json").read_text("utf-8"))
    text = format_raw_json(answer)
    assert json.loads(text) == answer
    assert all(one.isprintable() for one in text.replace("\n", ""))
