"""SECURITY.md tells what a person reads who runs a toolset over stdio alone."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "runtime/toolcast_runtime"


def told() -> dict[str, int]:
    """The packages of the table, with their lines."""
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z_/]+)/` \| ([\d,]+) \|", text, re.M)
    return {package: int(lines.replace(",", "")) for package, lines in rows}


def test_the_lines_of_each_package_are_about_those_that_are_told() -> None:
    for package, lines in told().items():
        files = (RUNTIME / package).rglob("*.py")
        there = sum(file.read_bytes().count(b"\n") for file in files)
        assert abs(there - lines) <= max(50, lines * 0.1), f"{package}: {there}"
