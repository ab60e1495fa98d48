"""Handlers are followed by reading: the way is told, there is an end, nothing is imported."""

from __future__ import annotations

from pathlib import Path

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
        "handlers/work.py:10 queries `lessons` through the pool `main`, and the table is in"
        " `memory`, by way of `work` (handlers/work.py:5) -> `_rows`"
    )


def test_code_without_end_is_bounded(tmp_path: Path) -> None:
    many = "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(6000))
    found = findings(tmp_path, f"def work(): return f0()\n{many}\n")
    assert set(found) == {"handler/unfollowed"}


def test_code_that_is_too_deep_is_told(tmp_path: Path) -> None:
    deep = "+".join(["x"] * 900)
    found = findings(tmp_path, f"def work(x=1): return {deep}\n")
    assert set(found) == {"handler/unfollowed"}


def test_nothing_is_imported(tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    code = f"""
        open({str(mark)!r}, "w").close()
        def work(): return 1
        """
    assert findings(tmp_path, code) == {}
    assert not mark.exists()
