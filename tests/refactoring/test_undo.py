"""A rename that is taken back before git has it leaves the bytes that were there."""

from __future__ import annotations

import subprocess

from tests.conftest import Project

from .conftest import contents, run


def test_a_rename_that_is_taken_back_before_it_is_added_leaves_nothing(
    notes: Project,
) -> None:
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=notes.root, check=True)
    before = contents(notes.root)
    run(notes, "rename", "find_note", "look_up", "--handler")
    run(notes, "rename", "look_up", "seek_note", "--handler")
    spec = (notes.root / "specs/toy/seek_note.yaml").read_text()
    assert "renamed_from: [find_note, look_up]\n" in spec
    run(notes, "rename", "seek_note", "find_note", "--handler")
    assert contents(notes.root) == before
    # What was added may be known to somebody.
    run(notes, "rename", "find_note", "look_up")
    subprocess.run(["git", "add", "-A"], cwd=notes.root, check=True)
    run(notes, "rename", "look_up", "find_note")
    spec = (notes.root / "specs/toy/find_note.yaml").read_text()
    assert "renamed_from: [look_up]\n" in spec


def test_one_of_several_former_names_is_taken_back(notes: Project) -> None:
    notes.edit("specs/toy/find_note.yaml", "section: notes", "renamed_from: [a_b]")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=notes.root, check=True)
    before = contents(notes.root)
    run(notes, "rename", "find_note", "look_up")
    run(notes, "rename", "look_up", "find_note")
    assert contents(notes.root) == before


def test_a_former_name_that_git_has_stays(notes: Project) -> None:
    notes.edit("specs/toy/find_note.yaml", "section: notes", "renamed_from: [look_up]")
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=notes.root, check=True)
    before = contents(notes.root)
    run(notes, "rename", "find_note", "look_up")
    run(notes, "rename", "look_up", "find_note")
    assert contents(notes.root) == before
    # And where the spec was edited in between, every name is kept.
    run(notes, "rename", "find_note", "seek_it")
    notes.edit("specs/toy/seek_it.yaml", "Finds notes.", "Finds all notes.")
    run(notes, "rename", "seek_it", "find_note")
    spec = (notes.root / "specs/toy/find_note.yaml").read_text()
    assert "renamed_from: [look_up, seek_it]\n" in spec
