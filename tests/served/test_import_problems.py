"""What is said of a package that cannot be imported: the error's last line, and where it is."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.stdio import import_check
from toolcast_runtime.stdio.import_check import find_problems

HERE = Path(__file__)
ROOT = HERE.parents[2]


def _raised() -> Exception:
    try:
        raise ValueError("one\ntwo")
    except ValueError as error:
        return error


def test_an_error_is_told_by_its_last_line_and_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(ROOT)
    error = _raised()
    trace: Any = error.__traceback__
    own = HERE.relative_to(ROOT).as_posix()
    told = {
        "name": "look",
        "error": "two",
        "is_mismatch": False,
        "file": own,
        "line": trace.tb_lineno,
    }
    assert import_check._describe_failure("look", error) == told
    monkeypatch.chdir(tmp_path)
    assert import_check._describe_failure("look", error) == {
        **told,
        "file": "",
        "line": 0,
    }


def test_a_long_error_is_cut_off() -> None:
    told = import_check._describe_failure("", ValueError("a" * 600))["error"]
    assert told == f"ValueError: {'a' * 488}"


@pytest.mark.parametrize(
    ("file", "line", "place"),
    [
        ("own.py", 7, ("own.py", 7)),
        ("deep/own.py", None, ("deep/own.py", 0)),
        ("site-packages/other.py", 7, ("", 0)),
        ("<string>", 7, ("", 0)),
        ("", 7, ("", 0)),
    ],
)
def test_a_fault_in_the_text_is_where_it_says(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    file: str,
    line: int | None,
    place: tuple[str, int],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / file) if file and file[0] != "<" else file
    error = SyntaxError("invalid syntax", (path, line, 0, "x"))
    assert import_check._find_location(error) == place


@pytest.mark.parametrize("has_server", [True, False])
def test_each_handler_is_imported_and_what_is_missing_told(
    monkeypatch: pytest.MonkeyPatch, has_server: bool
) -> None:
    def start(of: str) -> Any:
        def import_handlers(begin: Any) -> Any:
            begin("look")
            return {"look": ValueError(f"of the {of}")}

        return SimpleNamespace(
            import_handlers=import_handlers,
            list_unset_variables=lambda: {"far": "set FAR"},
            http=None,
        )

    registry = SimpleNamespace(get_single_toolset=lambda: start("registry"))
    server = start("server")
    server.toolsets = [SimpleNamespace(registry=registry)]
    found = SimpleNamespace(
        util=SimpleNamespace(find_spec=lambda _: has_server or None),
        import_module=lambda name: SimpleNamespace(SERVER=server, REGISTRY=registry),
    )
    monkeypatch.setattr(import_check, "importlib", found)
    begun: list[str] = []
    first, second = find_problems("toy", begun.append)
    of = "server" if has_server else "registry"
    assert first["error"] == f"ValueError: of the {of}"
    assert second == {"unset": "the external server `far`: set FAR"}
    assert begun == ["", "look"]
