"""An edit that is killed between two files: `check` says so, and running it again ends it."""

from __future__ import annotations

import contextlib
import json

import pytest

from tests.conftest import Project
from toolcast_runtime.core.safe_folder import Folder

from .conftest import contents, run

EDITS = {
    "rename": ["rename", "find_note", "look_up", "--handler"],
    "remove": ["remove", "store_note", "--without-notice", "--force"],
}
LIST = "list.json"
IMPORT = ["import", LIST, "--toolset", "toy", "--force"]


def kill(project: Project, words: list[str], after: int) -> bool:
    """Runs a command that does no more to the disk after so many files."""
    count = 0

    def dies() -> bool:
        nonlocal count
        count += 1
        if count == after + 1:
            raise KeyboardInterrupt
        return count > after

    write, remove_file = Folder.write, Folder.remove_file

    def writes(self: Folder, name: str, data: bytes, **options: bool) -> None:
        if not dies():
            write(self, name, data, **options)  # type: ignore[arg-type]

    def removes(self: Folder, name: str) -> None:
        if not dies():
            remove_file(self, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Folder, "write", writes)
        patch.setattr(Folder, "remove_file", removes)
        with contextlib.suppress(KeyboardInterrupt):
            project.toolcast(*words)
    return count > after


@pytest.mark.parametrize("kind", EDITS)
def test_a_killed_edit_is_told_and_ends_when_it_is_run_again(
    notes: Project, kind: str
) -> None:
    words = EDITS[kind]
    notes.write("handlers/more.py", "from .toy import find_note\n")
    notes.generate()
    assert notes.toolcast("check").returncode == 0
    before = contents(notes.root)
    run(notes, *words)
    meant = contents(notes.root)
    steps = 0
    while True:
        for path in contents(notes.root).keys() - before.keys():
            (notes.root / path).unlink()
        for path, data in before.items():
            (notes.root / path).write_bytes(data)
        if not kill(notes, words, after=steps + 1):
            break
        steps += 1
        halfway = contents(notes.root)
        assert halfway not in (before, meant)
        assert notes.toolcast("check").returncode == 1
        run(notes, *words)
        assert contents(notes.root) == meant, steps
    assert steps >= 1 if kind == "remove" else steps >= 3


def test_a_killed_import_ends_when_it_is_run_again(notes: Project) -> None:
    """One that changes a tool, adds one, and removes the others."""
    tool = {"inputSchema": {"type": "object"}, "description": "Does."}
    tools = [{"name": name, **tool} for name in ("find_note", "new_note")]
    notes.write(LIST, json.dumps(tools))
    before = contents(notes.root)
    run(notes, *IMPORT)
    meant = contents(notes.root)
    steps = 0
    while True:
        for path in contents(notes.root).keys() - before.keys():
            (notes.root / path).unlink()
        for path, data in before.items():
            (notes.root / path).write_bytes(data)
        if not kill(notes, IMPORT, after=steps + 1):
            break
        steps += 1
        assert contents(notes.root) not in (before, meant)
        run(notes, *IMPORT)
        assert contents(notes.root) == meant, steps
    assert steps >= 3


def test_another_tool_of_the_name_is_none_of_it(notes: Project) -> None:
    words = ["rename", "find_note", "look_up"]
    kill(notes, words, after=1)
    notes.edit("specs/toy/look_up.yaml", "Finds notes.", "Looks for notes.")
    done = notes.toolcast(*words)
    assert done.returncode == 1
    assert "the tool `look_up` exists already, in specs/toy/look_up.yaml" in done.stderr


@pytest.mark.parametrize(
    ("words", "folder"),
    [
        (EDITS["rename"], "specs/toy"),
        (EDITS["rename"], "handlers"),
        (EDITS["remove"], "specs/toy"),
        (IMPORT, "specs/toy"),
        (["rename", "store_note", "keep_note"], "specs/toy"),
    ],
)
def test_edit_removes_leftovers_of_killed_edits(
    notes: Project, words: list[str], folder: str
) -> None:
    tool = {"inputSchema": {"type": "object"}, "description": "Does."}
    notes.write(LIST, json.dumps([{"name": "new_note", **tool}]))
    leftover = notes.write(f"{folder}/.toolcast-{'0a' * 8}.tmp", "half\n")
    own = notes.write(f"{folder}/.toolcast-notes.tmp", "mine\n")
    run(notes, *words)
    assert not leftover.exists() and own.exists()
