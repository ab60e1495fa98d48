"""Edits killed between two files: `check` reports them, and a second run completes them."""

from __future__ import annotations

import contextlib
import json

import pytest

from tests.conftest import Project
from toolcast_runtime.core.safe_folder import Folder

from .conftest import read_files, run_command

EDITS = {
    "rename": ["rename", "find_note", "look_up", "--handler"],
    "remove": ["remove", "store_note", "--without-notice", "--force"],
}
LIST = "list.json"
EDITS["import"] = ["import", LIST, "--toolset", "toy", "--force"]
TOOL = {"inputSchema": {"type": "object"}, "description": "Does."}


def run_and_interrupt(project: Project, arguments: list[str], after: int) -> bool:
    """Run a command that stops after writing a number of files; return whether it stopped."""
    count = 0

    def should_stop() -> bool:
        nonlocal count
        count += 1
        if count == after + 1:
            raise KeyboardInterrupt
        return count > after

    write, remove_file = Folder.write, Folder.remove_file

    def write_or_stop(self: Folder, name: str, data: bytes, **options: bool) -> None:
        if not should_stop():
            write(self, name, data, **options)  # type: ignore[arg-type]

    def remove_or_stop(self: Folder, name: str) -> None:
        if not should_stop():
            remove_file(self, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Folder, "write", write_or_stop)
        patch.setattr(Folder, "remove_file", remove_or_stop)
        with contextlib.suppress(KeyboardInterrupt):
            project.toolcast(*arguments)
    return count > after


@pytest.mark.parametrize("kind", EDITS)
def test_interrupted_rename_remove_or_import_is_completed_by_a_second_run(
    notes: Project, kind: str
) -> None:
    """`check` reports the interrupted edit of a tool.

    The imported list changes one tool, adds one and removes the others.
    """
    arguments = EDITS[kind]
    tools = [{"name": name, **TOOL} for name in ("find_note", "new_note")]
    notes.write(LIST, json.dumps(tools))
    notes.write("handlers/more.py", "from .toy import find_note\n")
    notes.generate()
    assert notes.toolcast("check").returncode == 0
    before = read_files(notes.root)
    run_command(notes, *arguments)
    expected = read_files(notes.root)
    steps = 0
    while True:
        for path in read_files(notes.root).keys() - before.keys():
            (notes.root / path).unlink()
        for path, data in before.items():
            (notes.root / path).write_bytes(data)
        if not run_and_interrupt(notes, arguments, after=steps + 1):
            break
        steps += 1
        halfway = read_files(notes.root)
        assert halfway not in (before, expected)
        assert kind == "import" or notes.toolcast("check").returncode == 1
        run_command(notes, *arguments)
        assert read_files(notes.root) == expected, steps
    assert steps >= 1 if kind == "remove" else steps >= 3


def test_interrupted_rename_does_not_replace_an_edited_spec(notes: Project) -> None:
    """The second run reports that the tool exists already."""
    arguments = ["rename", "find_note", "look_up"]
    run_and_interrupt(notes, arguments, after=1)
    notes.edit("specs/toy/look_up.yaml", "Finds notes.", "Looks for notes.")
    done = notes.toolcast(*arguments)
    assert done.returncode == 1
    assert "the tool `look_up` exists already, in specs/toy/look_up.yaml" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        (EDITS["rename"], "specs/toy"),
        (EDITS["rename"], "handlers"),
        (EDITS["remove"], "specs/toy"),
        (EDITS["import"], "specs/toy"),
        (["rename", "store_note", "keep_note"], "specs/toy"),
    ],
)
def test_rename_remove_and_import_delete_leftover_temporary_files(
    notes: Project, arguments: list[str], folder: str
) -> None:
    notes.write(LIST, json.dumps([{"name": "new_note", **TOOL}]))
    leftover = notes.write(f"{folder}/.toolcast-{'0a' * 8}.tmp", "half\n")
    own = notes.write(f"{folder}/.toolcast-notes.tmp", "mine\n")
    run_command(notes, *arguments)
    assert not leftover.exists() and own.exists()
