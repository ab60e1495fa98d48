"""Handlers are followed by reading: the way is told, there is an end, nothing is imported."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.handler_code.followed import findings


def test_the_line_and_the_way_are_told(tmp_path: Path) -> None:
    code = """\
        from .pools import main
        from .asking import ask
        def work():
            with main() as connection:
                return _rows(connection) and ask("x")
        def _rows(connection):
            return connection.execute(
                '''
                SELECT *
                FROM lessons
                '''
            )
        """
    found = findings(tmp_path, code)
    assert found["data/wrong-pool"] == (
        "handlers/work.py:10 queries `lessons` through the pool `main`, but the table is in"
        " `memory`, called through `work` (handlers/work.py:5) -> `_rows`"
    )


@pytest.mark.slow
def test_code_without_end_is_bounded(tmp_path: Path) -> None:
    many = "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(6000))
    found = findings(tmp_path, f"def work(): return f0()\n{many}\n")
    assert set(found) == {"handler/unanalyzed-code"}


def test_code_that_is_too_deep_is_told(tmp_path: Path) -> None:
    deep = "+".join(["x"] * 900)
    found = findings(tmp_path, f"def work(x=1): return {deep}\n")
    assert set(found) == {"handler/unanalyzed-code"}


@pytest.mark.parametrize(
    "annotation",
    [
        " | ".join(["int"] * 900),
        " | ".join(["Sequence[int]"] * 900),
        "a" + ".b" * 900,
        "Own",
        "Place",
    ],
)
def test_annotations_without_end_are_compared_in_no_time(
    annotation: str, tmp_path: Path
) -> None:
    code = f"""
        from collections.abc import Sequence
        from typing import TypedDict
        Own = list[Own] | list[Own] | list[Own]
        class Place(TypedDict):
            place: "Place | Place | Place"
        def work(text: {annotation} = 1) -> {annotation}: ...
        """
    deep = "{type: array, items: " * 12 + "{type: string}" + "}" * 12
    spec = f"parameters: {{type: object, properties: {{text: {deep}}}}}\n"
    begun = time.monotonic()
    assert set(findings(tmp_path, code, spec)) <= {
        "handler/annotation-mismatch",
        "handler/default-mismatch",
        "handler/unanalyzed-code",
        "prompt/parameter-undescribed",
    }
    assert time.monotonic() - begun < 10


def test_nothing_is_imported(tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    code = f"""
        open({str(mark)!r}, "w").close()
        def work(): return 1
        """
    assert findings(tmp_path, code) == {}
    assert not mark.exists()
