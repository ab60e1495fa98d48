"""Tool renames that are reverted before or after git has the new name."""

from __future__ import annotations

from tests.conftest import Project
from tests.git_command import run_git

from .conftest import read_files, run_command


def add_to_git(notes: Project) -> dict[str, bytes]:
    """Add all files to git's index and return them."""
    for arguments in (["init", "-q"], ["add", "."]):
        run_git(notes.root, *arguments)
    return read_files(notes.root)


def test_rename_back_to_the_first_name_restores_all_files_unless_git_has_the_new_name(
    notes: Project,
) -> None:
    """A name that git has may be in use, so `renamed_from` lists it."""
    before = add_to_git(notes)
    run_command(notes, "rename", "find_note", "look_up", "--handler")
    run_command(notes, "rename", "look_up", "seek_note", "--handler")
    spec = (notes.root / "specs/toy/seek_note.yaml").read_text()
    assert "renamed_from: [find_note, look_up]\n" in spec
    run_command(notes, "rename", "seek_note", "find_note", "--handler")
    assert read_files(notes.root) == before
    # A name in git's index may be in use, so it is recorded.
    run_command(notes, "rename", "find_note", "look_up")
    run_git(notes.root, "add", "-A")
    run_command(notes, "rename", "look_up", "find_note")
    spec = (notes.root / "specs/toy/find_note.yaml").read_text()
    assert "renamed_from: [look_up]\n" in spec


def test_rename_back_to_the_first_name_preserves_the_earlier_renamed_from_list(
    notes: Project,
) -> None:
    notes.edit("specs/toy/find_note.yaml", "section: notes", "renamed_from: [a_b]")
    before = add_to_git(notes)
    run_command(notes, "rename", "find_note", "look_up")
    run_command(notes, "rename", "look_up", "find_note")
    assert read_files(notes.root) == before


def test_rename_to_and_back_from_a_name_in_renamed_from_preserves_the_list(
    notes: Project,
) -> None:
    notes.edit("specs/toy/find_note.yaml", "section: notes", "renamed_from: [look_up]")
    before = add_to_git(notes)
    run_command(notes, "rename", "find_note", "look_up")
    run_command(notes, "rename", "look_up", "find_note")
    assert read_files(notes.root) == before
    # If the spec was edited in between, every name is recorded.
    run_command(notes, "rename", "find_note", "seek_it")
    notes.edit("specs/toy/seek_it.yaml", "Finds notes.", "Finds all notes.")
    run_command(notes, "rename", "seek_it", "find_note")
    spec = (notes.root / "specs/toy/find_note.yaml").read_text()
    assert "renamed_from: [look_up, seek_it]\n" in spec
