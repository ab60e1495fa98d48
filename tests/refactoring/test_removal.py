"""`toolcast remove`: announced first, and then quiet."""

from __future__ import annotations

import subprocess

import pytest

from tests.conftest import Project

from .conftest import contents, refused, run, today


@pytest.fixture
def kept(notes: Project) -> Project:
    """The project in a repository, and nothing says `store_note` but lists."""
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=notes.root, check=True)
    return notes


def test_a_tool_whose_day_has_come_goes_quietly(kept: Project) -> None:
    kept.edit(
        "specs/toy/store_note.yaml",
        "replacement: find_note}",
        'removal: "2020-02-02", replacement: find_note}',
    )
    kept.edit(
        "specs/toy/store_note.yaml", "section:", "renamed_from: [put_note]\nsection:"
    )
    subprocess.run(["git", "add", "."], cwd=kept.root, check=True)
    before = contents(kept.root)
    said = run(kept, "remove", "store_note")
    assert said.startswith("`store_note` is removed, and its name reserved")
    # What it has written itself is not left to decide.
    assert "toolset.yaml" not in said
    after = contents(kept.root)
    assert before.keys() - after.keys() == {"specs/toy/store_note.yaml"}
    reason = f"Removed on {today()}; find_note is used instead."
    toolset = after["specs/toy/toolset.yaml"].decode()
    assert toolset.startswith(
        "name: toy\n"
        "title: Toy\n"
        "handlers: handlers\n"
        "reserved_names:\n"
        f'  - name: store_note\n    reason: "{reason}"\n'
        f'  - name: put_note\n    reason: "{reason}"\n'
        "instructions: Begin with find_note.\n"
    )
    assert "    allow: [find_note]\n" in toolset
    assert "    allow:\n      - find_note  # reads only\n" in toolset
    assert toolset.endswith(
        "exclusions:\n"
        "  - {tool: find_note, target: mcp, reason: find_note is internal.}\n"
    )
    run(kept, "generate")
    # No tool takes the names again.
    for name in ("store_note", "put_note"):
        said = refused(kept, 1, "rename", "find_note", name)
        assert f"`{name}` is reserved: {reason}" in said
        assert "reserved" in refused(kept, 2, "new", name, "--toolset", "toy")


@pytest.mark.parametrize(
    ("deprecated", "says"),
    [
        ("", "`store_note` is not deprecated"),
        ('deprecated: {since: "2"}\n', "deprecated without a removal date"),
        (
            'deprecated: {since: "2", removal: "2999-01-01"}\n',
            "must not be removed before 2999-01-01",
        ),
    ],
)
def test_one_that_was_not_announced_asks_for_now(
    kept: Project, deprecated: str, says: str
) -> None:
    spec = "specs/toy/store_note.yaml"
    old = 'deprecated: {since: "2020-01-01", replacement: find_note}\n'
    kept.edit(spec, old, deprecated)
    subprocess.run(["git", "add", "."], cwd=kept.root, check=True)
    said = refused(kept, 1, "remove", "store_note")
    assert says in said and "use `--without-notice` to remove it at once" in said
    run(kept, "remove", "store_note", "--without-notice", "--reason", "It was unsafe.")
    toolset = (kept.root / "specs/toy/toolset.yaml").read_text()
    assert "  - name: store_note\n    reason: It was unsafe.\n" in toolset.replace(
        '"', ""
    )


def test_a_draft_needs_no_announcement(kept: Project) -> None:
    old = 'deprecated: {since: "2020-01-01", replacement: find_note}\n'
    kept.edit("specs/toy/store_note.yaml", old, "stability: draft\n")
    subprocess.run(["git", "add", "."], cwd=kept.root, check=True)
    run(kept, "remove", "store_note")


def test_files_that_are_scanned_are_listed(kept: Project) -> None:
    with (kept.root / "toolcast.yaml").open("a") as stream:
        stream.write("scan: [AGENTS.md, handlers]\n")
    kept.write("AGENTS.md", "Then store_note.\n")
    said = run(kept, "remove", "store_note", "--without-notice")
    assert "  AGENTS.md:1:6: Then store_note.\n" in said
    said = run(kept, "rename", "find_note", "search")
    # A line that is found in two ways stands there once.
    assert said.count("handlers/toy.py:7:") == 1


def test_what_refers_to_it_is_listed_and_nothing_goes(kept: Project) -> None:
    said = refused(kept, 1, "remove", "find_note", "--without-notice")
    assert (
        "`find_note` is the replacement of deprecated tools:\n  specs/toy/store_note.yaml:10"
        in said
    )
    kept.edit("specs/toy/store_note.yaml", ", replacement: find_note}", "}")
    said = refused(kept, 1, "remove", "find_note", "--without-notice")
    places = [row.strip() for row in said.splitlines() if row.startswith("  specs/")]
    assert places == [
        "specs/toy/store_note.yaml:3:14",
        "specs/toy/store_note.yaml:4:14",
        "specs/toy/toolset.yaml:4:15",
        "specs/toy/toolset.yaml:8:13",
        "specs/other/toolset.yaml:5:15",
    ]
    said = run(kept, "remove", "find_note", "--without-notice", "--ignore-mentions")
    assert "specs/toy/store_note.yaml:6:8: Call find_note first.\n" in said
    assert "specs/other/toolset.yaml:4:9: # Here, find_note of toy" in said
    assert "`handlers.toy:find_note` is no longer the handler of a tool" in said


def test_a_spec_that_git_could_not_give_back_stays(kept: Project) -> None:
    kept.edit("specs/toy/store_note.yaml", "Stores a note.", "Stores one note.")
    said = refused(kept, 1, "remove", "store_note", "--without-notice")
    assert "git cannot restore specs/toy/store_note.yaml" in said
    run(kept, "remove", "store_note", "--without-notice", "--dry-run")
    run(kept, "remove", "store_note", "--without-notice", "--force")


def test_no_tool_of_a_server_takes_the_name_at_run_time(kept: Project) -> None:
    with (kept.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write("mcp_servers: {far: {command: far, allow: [other_tool]}}\n")
    run(kept, "remove", "store_note", "--without-notice")
    kept.generate()
    registry = (kept.root / "generated/toy/registry.py").read_text()
    assert '    reserved_names=("store_note",),\n' in registry
