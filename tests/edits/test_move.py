"""`toolcast move`: a tool goes to another toolset whole, or stays."""

from __future__ import annotations

import pytest

from tests.conftest import Project

from .conftest import contents, refused, run


def test_a_tool_goes_with_its_exclusions_and_leaves_the_lists(notes: Project) -> None:
    before = contents(notes.root)
    said = run(notes, "move", "store_note", "other")
    after = contents(notes.root)
    assert before.keys() - after.keys() == {"specs/toy/store_note.yaml"}
    moved = "specs/other/store_note.yaml"
    # There are no sections there.
    spec = before["specs/toy/store_note.yaml"].replace(b"section: notes\n", b"")
    assert after[moved] == spec
    assert b"store_note" not in after["specs/toy/toolset.yaml"]
    # It was kept out of MCP, and still is.
    assert (
        after["specs/other/toolset.yaml"]
        .decode()
        .endswith(
            "targets: {mcp: {}, registry: {}}\n"
            "exclusions:\n"
            "  - tool: store_note\n"
            "    target: mcp\n"
            '    reason: "So is this."\n'
        )
    )
    assert said.startswith("`store_note` is in the toolset `other`")


def test_who_may_have_it_there_is_told(notes: Project) -> None:
    said = run(notes, "move", "ping", "toy", "--section", "notes")
    assert "add it to a client's `allow` in specs/toy/toolset.yaml: none has it" in said
    notes.edit("specs/toy/toolset.yaml", "  desk:\n", '  all: {allow: "*"}\n  desk:\n')
    run(notes, "move", "ping", "other")
    said = run(notes, "move", "ping", "toy")
    assert "read who has it now: `all`" in said


@pytest.mark.parametrize(
    ("code", "words", "says"),
    [
        (2, ["ping", "other"], "is in the toolset `other` already"),
        (2, ["ping", "tony"], "did you mean `toy`?"),
        (2, ["pong", "toy"], "there is no tool `pong`"),
        (1, ["ping", "toy", "--section", "gone"], "spec/unknown-section"),
        (1, ["ping", "toy", "--handler", "os:system"], "handler/outside-package"),
        (1, ["ping", "toy", "--handler", "nonsense"], "spec/invalid-value"),
    ],
)
def test_a_tool_that_cannot_stand_there_stays(
    notes: Project, code: int, words: list[str], says: str
) -> None:
    assert says in refused(notes, code, "move", *words)


def test_a_name_that_is_taken_there(notes: Project) -> None:
    run(notes, "rename", "find_note", "ping", "--toolset", "toy")
    said = refused(notes, 1, "move", "ping", "other", "--from", "toy")
    assert "there is a tool `ping` already, in specs/other/ping.yaml" in said


def test_the_option_of_move_is_told(notes: Project) -> None:
    run(notes, "rename", "find_note", "ping")
    said = refused(notes, 2, "move", "ping", "other")
    assert "add `--from` with one of `toy` and `other`" in said
