"""Generated code of older levels loads, lists, answers and prints what it did.

Each folder of `older_levels/` is a project as it was generated at that level, and what it said
with the runtime of its time (`recorded.json`, written by `record.py`).
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.packages import Package, definition
from tests.runtime.test_level import asked_of_runtime
from toolcast_runtime import LEVEL, OLDEST_LEVEL, require_level
from toolcast_runtime.registry import DefinitionError, Registry

HERE = Path(__file__).parent
PROJECTS = HERE / "older_levels"
OLDER = range(OLDEST_LEVEL, LEVEL)
each_level = pytest.mark.parametrize("level", OLDER)
# What a newer generator writes differs, and the lists are compared here.
NOT_ASKED = "not check_is_content and not tools_list_is_exact"
USE = re.compile(r"(?P<module>.*?)\.(?P<name>\w+)(?:\(\)\.(\w+)|\((?:(\w+)=)?\))?")


def run(level: int, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in the project of a level."""
    environment = {
        **os.environ,
        "PYTHONPATH": ".",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NOTES_LEDGER": str(folder / "notes.sqlite3"),
        "ROOMS_LEDGER": str(folder / "rooms.sqlite3"),
    }
    return subprocess.run(
        [sys.executable, *words],
        cwd=PROJECTS / f"level_{level}",
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=100,
    )


@pytest.mark.rows(1)
@each_level
def test_it_says_what_it_said(level: int, tmp_path: Path) -> None:
    expected = json.loads(
        (PROJECTS / f"level_{level}/recorded.json").read_text("utf-8")
    )
    done = run(level, tmp_path, "../record.py", *expected)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected


@pytest.mark.slow
@each_level
def test_its_own_tests_pass(level: int, tmp_path: Path) -> None:
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull]
    words += ["--rootdir", ".", "--noconftest", "--import-mode", "importlib"]
    done = run(level, tmp_path, *words, "-k", NOT_ASKED, "generated")
    assert done.returncode == 0, done.stdout
    assert re.search(r"^[2-9]\d passed", done.stdout, re.M), done.stdout


@each_level
def test_all_that_it_asks_of_the_runtime_is_there(level: int) -> None:
    uses = set((HERE / f"asked_at_level_{level}.txt").read_text("utf-8").split("\n"))
    for file in (PROJECTS / f"level_{level}/generated").rglob("*.py"):
        uses.update(asked_of_runtime(ast.parse(file.read_text("utf-8"))))
    uses.discard("")
    assert len(uses) > 80
    lacking = []
    for use in sorted(uses):
        found = USE.fullmatch(use)
        assert found is not None, use
        module, name, attribute, keyword = found.groups()
        there = getattr(importlib.import_module(module), name, None)
        is_there = there is not None
        if is_there and attribute:
            is_there = hasattr(there, attribute)
        if is_there and keyword:
            is_there = keyword in inspect.signature(there).parameters
        lacking += [] if is_there else [use]
    assert not lacking


def documented(line: str) -> dict[str, object]:
    """A definition with a bullet of its own, as level 2 has it."""
    return definition("note", prompt={"line": line})


def test_a_definition_that_is_older_than_its_package_is_refused(tmp_path: Path) -> None:
    package = Package(tmp_path, documented("- **note**: Does note."))
    with pytest.raises(DefinitionError, match="for an older level than its package"):
        Registry(package.load())


def test_a_definition_that_is_newer_than_its_package_is_refused(tmp_path: Path) -> None:
    package = Package(tmp_path, definition("note", prompt={"usage": []}))
    require_level(2, package.name)
    with pytest.raises(DefinitionError, match="lacks 'line'"):
        Registry(package.load())


def test_a_bullet_of_an_older_level_is_as_it_was(tmp_path: Path) -> None:
    package = Package(tmp_path, documented("- **note**: Does it."))
    require_level(2, package.name)
    (tool,) = Registry(package.load()).local_tools
    assert tool.prompt_line == "- **note**: Does it."
    assert tool.prompt_usage == ()


def test_a_member_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    """What only a newer runtime can do with it, docs/upgrading.md says."""
    package = Package(
        tmp_path, definition("note", prompt={"usage": []}, later={"a": 1})
    )
    (tool,) = Registry(package.load()).local_tools
    assert tool.prompt_line == "- **note**: Does note."
    assert tool.parts == {"later": {"a": 1}}
