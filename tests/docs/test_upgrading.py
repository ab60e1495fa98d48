"""What the page on upgrading says, tried."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.docs.walking import walk
from toolcast_runtime import RUNTIME_LEVEL, __version__, require_level
from toolcast_runtime.ledger.records import VERSION
from toolcast_runtime.ledger.sqlite_ledger import connected

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/upgrading.md").read_text("utf-8")
HANDLERS = """
def find(*, id: str, depth: int = 1) -> str:
    return id
def gone() -> str:
    return "there"
"""
FIND = """
summary: Find a thing.
parameters:
  type: object
  properties: {id: {type: string}, %s}
  required: [%s]
  additionalProperties: false
handler: handlers.toy:find
"""
TOOLSET = "targets: {registry: {}}\n"
GONE = "summary: Go.\nparameters: {type: object}\nhandler: handlers.toy:gone\n"
CALL = """
import json, sys
from generated.toy.registry import call_tool_sync
for name, arguments in json.loads(sys.argv[1]):
    print(json.dumps(call_tool_sync(name, arguments).error or "answered"))
"""


def test_compatible_versions() -> None:
    major, minor, _ = __version__.split(".")
    assert f"requires `>={major}.{minor},<{major}.{int(minor) + 1}`" in PAGE


def test_the_message_about_another_level() -> None:
    with pytest.raises(ImportError) as refused:
        require_level(RUNTIME_LEVEL + 1, "generated.my_tools")
    assert f"```text\n{refused.value}\n```" in PAGE


def test_check_tells_of_another_level(make_project: Callable[..., Any]) -> None:
    project = make_project({"gone": GONE}, toolset=TOOLSET, handlers=HANDLERS)
    project.generate()
    own, newer = (f"level({n}, " for n in (RUNTIME_LEVEL, RUNTIME_LEVEL + 1))
    project.edit("generated/toy/__init__.py", own, newer)
    checked = project.toolcast("check")
    assert checked.returncode == 1
    found = "output/outdated: generated/toy/__init__.py is not what this version of"
    assert f"{found} Toolcast gives: a newer one wrote it" in checked.stderr


def test_the_version_of_the_ledger(tmp_path: Path) -> None:
    assert f"have a version, now {VERSION}. A runtime" in PAGE
    connected(tmp_path / "ledger.sqlite3").close()
    code = re.findall(r'^python -c "(.*)"$', PAGE, re.M)
    assert len(code) == 1
    assert "PRAGMA user_version" in code[0]
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite3")) as connection:
        found = connection.execute("PRAGMA user_version").fetchone()
    assert found == (VERSION,)


@pytest.mark.slow
def test_an_upgrade_that_changes_nothing(tmp_path: Path) -> None:
    """The page's first commands, in a project that is committed, leave it as it is."""
    begin = (
        "toolcast init my-tools\ncd my-tools\ntoolcast generate\ngit init -q\n"
        "git add -A\ngit -c user.name=me -c user.email=me@localhost commit -qm Begin\n"
    )
    ledger = (
        "python -c 'from toolcast_runtime.ledger.sqlite_ledger import connected;"
        ' from pathlib import Path; connected(Path("ledger.sqlite3")).close()\'\n'
    )
    first, last = (
        block + "```\n" for block in re.findall(r"^```sh\n[^`]*", PAGE, re.M)[1:]
    )
    walked = walk(
        f"```sh\n{begin}```\n\n{first}\n"
        "```text\n(0 written, 14 unchanged, 0 removed)\n```\n\n"
        '```sh\ntest -z "$(git status --short)"\n```\n\n'
        f"```sh\n{ledger}```\n\n{last}\n```text\n{VERSION}\n```\n",
        tmp_path,
    )
    assert walked == 5


@pytest.mark.slow
def test_old_and_new_processes_side_by_side(make_project: Callable[..., Any]) -> None:
    depth = "depth: {type: integer}"
    old = make_project(
        {"find": FIND % ("", "id"), "gone": GONE, "look": GONE},
        toolset=TOOLSET,
        handlers=HANDLERS,
        at="old",
    )
    new = make_project(
        {
            "find": FIND % (depth, "id"),
            "added": GONE,
            "view": GONE + "renamed_from: [look]\n",
        },
        toolset=TOOLSET,
        handlers=HANDLERS,
        at="new",
    )
    calls = [
        ("find", {"id": "a"}),
        ("find", {"id": "a", "depth": 2}),
        ("added", {}),
        ("look", {}),
        ("view", {}),
        ("gone", {}),
    ]
    said = []
    for project in (old, new):
        project.generate()
        done = project.run("-c", CALL, json.dumps(calls))
        assert done.returncode == 0, done.stderr
        said.append([json.loads(line) for line in done.stdout.splitlines()])
    by_old, by_new = said
    assert by_new == ["answered"] * 5 + [by_new[5]]
    assert "unknown tool `gone`" in by_new[5]
    assert [by_old[0], by_old[3], by_old[5]] == ["answered"] * 3
    assert "`depth`" in by_old[1]
    assert "unknown tool `added`" in by_old[2]
    assert "unknown tool `view`" in by_old[4]
