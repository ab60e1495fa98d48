"""The README of the hostile projects: its table has every case and existing tests."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "tests" / "hostile" / "README.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", README, re.MULTILINE))
CASES = sorted(f.name for f in (ROOT / "tests" / "hostile").iterdir() if f.is_dir())


def test_hostile_readme_has_a_row_for_each_number_without_gaps() -> None:
    assert len(ROWS) > 50
    assert [int(number) for number in ROWS] == list(range(1, len(ROWS) + 1))
    numbers = {number.zfill(2): where for number, where in ROWS.items()}
    found = {number for number, where in numbers.items() if f"`{number}-*`" in where}
    assert {case[:2] for case in CASES} == found


def test_hostile_test_project_readme_names_only_existing_tests_and_paths() -> None:
    sources = "".join(
        path.read_text("utf-8") for path in ROOT.glob("tests/**/test_*.py")
    )
    for where in ROWS.values():
        for name in re.findall(r"`(test_\w+)`", where):
            assert f"def {name}(" in sources, name
        for path in re.findall(r"`(tests/[\w/.]+)`", where):
            assert (ROOT / path).exists(), path
