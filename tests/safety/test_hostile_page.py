"""The README of the hostile inputs lists the cases of its folder."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "tests" / "hostile" / "README.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", PAGE, re.MULTILINE))
CASES = sorted(f.name for f in (ROOT / "tests" / "hostile").iterdir() if f.is_dir())


def test_every_number_has_its_row() -> None:
    assert len(ROWS) > 50
    assert [int(number) for number in ROWS] == list(range(1, len(ROWS) + 1))


def test_every_case_has_its_row_and_every_row_its_cases() -> None:
    numbers = {case[:2] for case in CASES}
    named = {
        number.zfill(2)
        for number, where in ROWS.items()
        if f"`{number.zfill(2)}-*`" in where
    }
    assert numbers == named


def test_every_test_that_is_named_is_there() -> None:
    sources = "".join(
        path.read_text("utf-8") for path in ROOT.glob("tests/**/test_*.py")
    )
    for where in ROWS.values():
        for name in re.findall(r"`(test_\w+)`", where):
            assert f"def {name}(" in sources, name
        for path in re.findall(r"`(tests/[\w/.]+)`", where):
            assert (ROOT / path).exists(), path
