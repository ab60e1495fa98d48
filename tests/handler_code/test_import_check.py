"""The import check of a package: handlers, servers and settings that fail at start."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcast_runtime.stdio.import_check import find_problems

REGISTRY = """
class Registry:
    def get_single_toolset(self):
        return self
    def import_handlers(self, begin):
        begin("work")
        found = {}
        try:
            import {module}
        except BaseException as error:
            found["work"] = error
        return found
    def list_unset_variables(self):
        return {unset}
REGISTRY = Registry()
"""
Write = Callable[..., str]


@pytest.fixture
def write_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Return a function that writes a package here, and returns its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = {*sys.modules}

    def write(**files: str) -> str:
        package = tmp_path / f"tried_{tmp_path.name.replace('-', '_')}"
        package.mkdir()
        (package / "__init__.py").touch()
        for name, text in files.items():
            folder = tmp_path if name.startswith("own_") else package
            (folder / f"{name}.py").write_text(text, "utf-8")
        return package.name

    yield write
    for name in {*sys.modules} - before:
        if name.startswith(("tried_", "own_")):
            del sys.modules[name]


def format_registry(module: str = "json", unset: Any = "{}") -> str:
    return REGISTRY.replace("{module}", module).replace("{unset}", repr(unset))


def test_valid_package_has_no_problem(write_package: Write) -> None:
    progress: list[str] = []
    package = write_package(registry=format_registry(unset={}))
    assert list(find_problems(package, progress.append)) == []
    assert progress == ["", "work"]


@pytest.mark.parametrize(
    ("source", "error", "line"),
    [
        ("x = 1\nraise ValueError('no')\n", "ValueError: no", 2),
        ("x = 1\n\ndef (:\n", "SyntaxError: invalid syntax", 3),
        ("raise SystemExit(3)\n", "SystemExit: 3", 1),
        ("raise ValueError('a\\nlast')\n", "last", 1),
        (f"raise ValueError('{'x' * 600}')\n", ("ValueError: " + "x" * 600)[:500], 1),
        ("import json\njson.loads('{')\n", None, 2),
        ("exec('raise KeyError(1)')\n", "KeyError: 1", 1),
    ],
)
def test_handler_problem_has_file_and_line(
    write_package: Write, source: str, error: str | None, line: int
) -> None:
    package = write_package(registry=format_registry("own_work", {}), own_work=source)
    (found,) = find_problems(package)
    assert (found["name"], found["file"], found["line"]) == (
        "work",
        "own_work.py",
        line,
    )
    assert error is None or found["error"] == error


def test_problem_outside_the_project_has_no_line_in_it(write_package: Write) -> None:
    package = write_package(registry=format_registry("no_such_module", {}))
    (found,) = find_problems(package)
    assert found["error"] == "ModuleNotFoundError: No module named 'no_such_module'"
    assert found["file"].endswith("registry.py")
    (found,) = find_problems("no_such_package_at_all")
    assert (found["name"], found["file"], found["line"]) == ("", "", 0)


def test_unimportable_package_is_the_only_problem(write_package: Write) -> None:
    package = write_package(registry="x = 1\nraise SystemExit('over')\n")
    (found,) = find_problems(package)
    assert found == {
        "name": "",
        "error": "SystemExit: over",
        "is_mismatch": False,
        "file": f"{package}/registry.py",
        "line": 2,
    }


def test_server_module_is_imported_before_the_registry(write_package: Write) -> None:
    package = write_package(
        registry="raise KeyError\n", mcp_server="raise ValueError('mine')\n"
    )
    (found,) = find_problems(package)
    assert found["error"] == "ValueError: mine"
    assert found["file"] == f"{package}/mcp_server.py"


def test_import_check_reports_an_unset_external_server_variable(
    write_package: Write,
) -> None:
    package = write_package(registry=format_registry(unset={"far": "TOKEN is not set"}))
    assert list(find_problems(package)) == [
        {"unset": "the external server `far`: TOKEN is not set"}
    ]
