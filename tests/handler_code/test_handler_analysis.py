"""Static analysis of handlers: the reported call path, bounded work, no imports."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.handler_code.handler_findings import find_problems
from tests.rules.layout import list_findings


def test_wrong_pool_finding_has_the_statement_line_and_the_call_path(
    tmp_path: Path,
) -> None:
    """Handler `work` calls a function that executes the statement."""
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
    found = find_problems(tmp_path, code)
    assert found["data/wrong-pool"] == (
        "handlers/work.py:10 queries `lessons` through the pool `main`, but the table is in"
        " `memory`, called through `work` (handlers/work.py:5) -> `_rows`"
    )


@pytest.mark.slow
def test_too_long_call_chain_is_reported_as_unanalyzed(tmp_path: Path) -> None:
    many = "\n".join(f"def f{n}(): return f{n + 1}()" for n in range(6000))
    found = find_problems(tmp_path, f"def work(): return f0()\n{many}\n")
    assert set(found) == {"handler/unanalyzed-code"}


def test_too_deeply_nested_code_is_reported_as_unanalyzed(tmp_path: Path) -> None:
    deep = "+".join(["x"] * 900)
    found = find_problems(tmp_path, f"def work(x=1): return {deep}\n")
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
def test_recursive_annotation_is_compared_fast(annotation: str, tmp_path: Path) -> None:
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
    started = time.process_time()
    assert set(find_problems(tmp_path, code, spec)) <= {
        "handler/annotation-mismatch",
        "handler/default-mismatch",
        "handler/unanalyzed-code",
        "prompt/parameter-undescribed",
    }
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("code", "is_checked"),
    [
        ("def work(a): ...", True),
        ("if x:\n    def work(a): ...\nelse:\n    def work(): ...", False),
        ("if x:\n    def work(): ...\nelse:\n    def work(a): ...", False),
        ("class work:\n    def __init__(self, a): ...", False),
    ],
)
def test_handler_signature_is_checked_if_the_name_has_one_definition(
    code: str, is_checked: bool, tmp_path: Path
) -> None:
    assert ("handler/signature" in find_problems(tmp_path, code)) is is_checked


@pytest.mark.parametrize(
    ("size", "messages"),
    [
        (2_097_152, []),
        (
            2_097_153,
            ["handlers/work.py cannot be read: the file has 2,097,153 bytes"],
        ),
    ],
)
def test_handler_module_above_2_mib_is_reported_with_its_size(
    size: int, messages: list[str], tmp_path: Path
) -> None:
    code = "def work(): return 1\n"
    find_problems(tmp_path, code)
    (tmp_path / "handlers/work.py").write_text(code.ljust(size, "#"))
    assert [finding.message for finding in list_findings(tmp_path)] == messages


def test_analysis_imports_no_handler(tmp_path: Path) -> None:
    mark = tmp_path / "imported"
    code = f"""
        open({str(mark)!r}, "w").close()
        def work(): return 1
        """
    assert find_problems(tmp_path, code) == {}
    assert not mark.exists()
