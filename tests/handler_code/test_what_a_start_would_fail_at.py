"""What trying a package's start finds, in this process, of packages that the test writes."""

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
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a package and makes its folder the present one; gives the package's name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    before = {*sys.modules}

    def made(**files: str) -> str:
        package = tmp_path / f"tried_{tmp_path.name.replace('-', '_')}"
        package.mkdir()
        (package / "__init__.py").touch()
        for name, text in files.items():
            folder = tmp_path if name.startswith("own_") else package
            (folder / f"{name}.py").write_text(text, "utf-8")
        return package.name

    yield made
    for name in {*sys.modules} - before:
        if name.startswith(("tried_", "own_")):
            del sys.modules[name]


def registry(module: str = "json", unset: Any = "{}") -> str:
    return REGISTRY.replace("{module}", module).replace("{unset}", repr(unset))


def test_what_is_right_has_no_problem(write: Write) -> None:
    begun: list[str] = []
    package = write(registry=registry(unset={}))
    assert list(find_problems(package, begun.append)) == []
    assert begun == ["", "work"]


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
def test_a_handler_is_told_at_its_place(
    write: Write, source: str, error: str | None, line: int
) -> None:
    package = write(registry=registry("own_work", {}), own_work=source)
    (found,) = find_problems(package)
    assert (found["name"], found["file"], found["line"]) == (
        "work",
        "own_work.py",
        line,
    )
    assert error is None or found["error"] == error


def test_what_is_not_the_projects_has_no_place(write: Write) -> None:
    package = write(registry=registry("no_such_module_at_all", {}))
    (found,) = find_problems(package)
    assert (
        found["error"] == "ModuleNotFoundError: No module named 'no_such_module_at_all'"
    )
    assert found["file"].endswith("registry.py")
    (found,) = find_problems("no_such_package_at_all")
    assert (found["name"], found["file"], found["line"]) == ("", "", 0)


def test_a_package_that_cannot_be_imported_is_told_alone(write: Write) -> None:
    package = write(registry="x = 1\nraise SystemExit('over')\n")
    (found,) = find_problems(package)
    assert found == {
        "name": "",
        "error": "SystemExit: over",
        "is_mismatch": False,
        "file": f"{package}/registry.py",
        "line": 2,
    }


def test_a_server_goes_before_the_registry(write: Write) -> None:
    package = write(
        registry="raise KeyError\n", mcp_server="raise ValueError('mine')\n"
    )
    (found,) = find_problems(package)
    assert found["error"] == "ValueError: mine"
    assert found["file"] == f"{package}/mcp_server.py"


def test_what_servers_do_not_find_is_told(write: Write) -> None:
    package = write(registry=registry(unset={"far": "TOKEN is not set"}))
    assert list(find_problems(package)) == [
        {"unset": "the external server `far`: TOKEN is not set"}
    ]
