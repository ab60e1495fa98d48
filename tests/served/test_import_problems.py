"""Import check of a generated package: error text, location and unset variables."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.stdio import import_check
from toolcast_runtime.stdio.import_check import find_problems

HERE = Path(__file__)
ROOT = HERE.parents[2]


def _raise_error() -> Exception:
    try:
        raise ValueError("one\ntwo")
    except ValueError as error:
        return error


def test_import_check_failure_has_the_last_error_line_and_its_location(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Files outside the working directory have no location.

    The error text is cut at 500 characters.
    """
    monkeypatch.chdir(ROOT)
    error = _raise_error()
    trace: Any = error.__traceback__
    file = HERE.relative_to(ROOT).as_posix()
    expected = {"name": "look", "error": "two", "is_mismatch": False}
    location = {"file": file, "line": trace.tb_lineno}
    assert import_check._describe_failure("look", error) == {**expected, **location}
    monkeypatch.chdir(tmp_path)
    location = {"file": "", "line": 0}
    assert import_check._describe_failure("look", error) == {**expected, **location}
    text = import_check._describe_failure("", ValueError("a" * 600))["error"]
    assert text == f"ValueError: {'a' * 488}"


@pytest.mark.parametrize(
    ("file", "line", "location"),
    [
        ("own.py", 7, ("own.py", 7)),
        ("deep/own.py", None, ("deep/own.py", 0)),
        ("site-packages/other.py", 7, ("", 0)),
        ("<string>", 7, ("", 0)),
        ("", 7, ("", 0)),
    ],
)
def test_import_check_reports_a_syntax_error_at_the_location_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    file: str,
    line: int | None,
    location: tuple[str, int],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / file) if file and file[0] != "<" else file
    error = SyntaxError("invalid syntax", (path, line, 0, "x"))
    assert import_check._find_location(error) == location


@pytest.mark.parametrize("has_server", [True, False])
def test_import_check_reports_handlers_that_fail_to_import_and_unset_variables(
    monkeypatch: pytest.MonkeyPatch, has_server: bool
) -> None:
    """Packages without a server are checked through their registry."""

    def make_toolset(source: str) -> Any:
        def import_handlers(begin: Any) -> Any:
            begin("look")
            return {"look": ValueError(f"of the {source}")}

        return SimpleNamespace(
            import_handlers=import_handlers,
            list_unset_variables=lambda: {"far": "set FAR"},
            http=None,
        )

    registry = SimpleNamespace(get_single_toolset=lambda: make_toolset("registry"))
    server = make_toolset("server")
    server.toolsets = [SimpleNamespace(registry=registry)]
    importlib_stub = SimpleNamespace(
        util=SimpleNamespace(find_spec=lambda _: has_server or None),
        import_module=lambda name: SimpleNamespace(SERVER=server, REGISTRY=registry),
    )
    monkeypatch.setattr(import_check, "importlib", importlib_stub)
    steps: list[str] = []
    first, second = find_problems("toy", steps.append)
    source = "server" if has_server else "registry"
    assert first["error"] == f"ValueError: of the {source}"
    assert second == {"unset": "the external server `far`: set FAR"}
    assert steps == ["", "look"]
