"""Printed results of tools: each folder of `answers` has a result and its output.

`REGENERATE=1` writes the expected output; review it as a user would see it.
"""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

import pytest

from toolcast.commands.call.result_format import format_raw_json, print_call_result

CASES = sorted((Path(__file__).parent / "answers").glob("*/"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_toolcast_call_prints_each_sample_result_as_its_expected_text(
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
    output = f"{out}---\n{err}---\n{files}exit {0 if is_done else 1}\n"
    expected = case / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(output, "utf-8")
    assert output == expected.read_text("utf-8")
    assert all(char.isprintable() for char in output.replace("\n", ""))
    # Tables of records have at most 80 columns.
    for line in output.split("\n") if "records" in case.name else ():
        wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
        assert len(line) + wide <= 80, line


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_toolcast_call_json_output_has_no_control_characters(case: Path) -> None:
    answer = json.loads((case / "answer.json").read_text("utf-8"))
    text = format_raw_json(answer)
    assert json.loads(text) == answer
    assert all(char.isprintable() for char in text.replace("\n", ""))


def test_saved_file_name_contains_at_most_64_characters_from_the_tool_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = {"type": "image", "data": "YQ==", "mimeType": "image/png"}
    for length in (64, 65):
        assert print_call_result({"content": [image]}, "x" * length, str(tmp_path))
    names = sorted(file.name for file in tmp_path.iterdir())
    assert names == [f"{'x' * 64}-1.png", f"{'x' * 64}-2.png"]
