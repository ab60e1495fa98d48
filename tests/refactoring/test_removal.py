"""`toolcast remove`: announcement, references and reserved names."""

from __future__ import annotations

import re

import pytest

from tests.conftest import Project
from tests.git_command import run_git

from .conftest import read_files, run_command, run_rejected, today


@pytest.fixture
def repo(notes: Project) -> Project:
    """Return a project with all files in git's index."""
    for arguments in (["init", "-q"], ["add", "."]):
        run_git(notes.root, *arguments)
    return notes


def test_remove_reserves_the_names_of_a_deprecated_tool(repo: Project) -> None:
    spec = "specs/toy/store_note.yaml"
    repo.edit(spec, "replacement:", 'removal: "2020-02-02", replacement:')
    repo.edit(spec, "section:", "renamed_from: [put_note]\nsection:")
    run_git(repo.root, "add", ".")
    before = read_files(repo.root)
    output = run_command(repo, "remove", "store_note")
    assert output.startswith("`store_note` is removed, and its name reserved")
    # Lines that the command wrote itself are not listed for review.
    assert "toolset.yaml" not in output
    after = read_files(repo.root)
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
    run_command(repo, "generate")
    # No other tool can use the reserved names.
    for name in ("store_note", "put_note"):
        output = run_rejected(repo, 1, "rename", "find_note", name)
        assert f"`{name}` is reserved: {reason}" in output
        assert "reserved" in run_rejected(repo, 2, "new", name, "--toolset", "toy")


@pytest.mark.parametrize(
    ("deprecated", "message"),
    [
        ("", "`store_note` is not deprecated"),
        ('deprecated: {since: "2"}\n', "deprecated without a removal date"),
        (
            'deprecated: {since: "2", removal: "2999-01-01"}\n',
            "must not be removed before 2999-01-01",
        ),
    ],
)
def test_removing_a_tool_before_its_announced_date_requires_the_without_notice_option(
    repo: Project, deprecated: str, message: str
) -> None:
    spec = "specs/toy/store_note.yaml"
    old = 'deprecated: {since: "2020-01-01", replacement: find_note}\n'
    repo.edit(spec, old, deprecated)
    run_git(repo.root, "add", ".")
    output = run_rejected(repo, 1, "remove", "store_note")
    assert message in output and "use `--without-notice` to remove it at once" in output
    run_command(
        repo, "remove", "store_note", "--without-notice", "--reason", "It was unsafe."
    )
    toolset = (repo.root / "specs/toy/toolset.yaml").read_text().replace('"', "")
    assert "  - name: store_note\n    reason: It was unsafe.\n" in toolset


def test_remove_command_removes_a_draft_tool_without_deprecation(repo: Project) -> None:
    old = 'deprecated: {since: "2020-01-01", replacement: find_note}\n'
    repo.edit("specs/toy/store_note.yaml", old, "stability: draft\n")
    run_git(repo.root, "add", ".")
    run_command(repo, "remove", "store_note")


def test_remove_and_rename_list_mentions_in_scanned_files_once(repo: Project) -> None:
    with (repo.root / "toolcast.yaml").open("a") as stream:
        stream.write("scan: [AGENTS.md, handlers]\n")
    lines = [
        "Then store_note.",
        "store_note ".ljust(80, "."),
        "store_note ".ljust(81, "."),
    ]
    repo.write("AGENTS.md", "\n".join([*lines, *["Then store_note."] * 100]))
    output = run_command(repo, "remove", "store_note", "--without-notice")
    assert "  AGENTS.md:1:6: Then store_note.\n" in output
    # A line has at most 80 characters, and at most 100 are printed.
    assert f"  AGENTS.md:2:1: {lines[1]}\n  AGENTS.md:3:1: {lines[1]}...\n" in output
    mentions = [line for line in output.splitlines() if re.match(r"  \S+:\d+:", line)]
    assert len(mentions) == 100 and re.search(r"\n  and \d+ more\n", output)
    output = run_command(repo, "rename", "find_note", "search")
    # A line found by the scan and in the handler is listed once.
    assert output.count("handlers/toy.py:7:") == 1


def test_remove_command_rejects_a_tool_that_other_specs_mention(repo: Project) -> None:
    """The option `--ignore-mentions` removes it nevertheless."""
    output = run_rejected(repo, 1, "remove", "find_note", "--without-notice")
    message = "`find_note` is the replacement of deprecated tools:\n"
    assert f"{message}  specs/toy/store_note.yaml:10" in output
    repo.edit("specs/toy/store_note.yaml", ", replacement: find_note}", "}")
    output = run_rejected(repo, 1, "remove", "find_note", "--without-notice")
    rows = [row for row in output.splitlines() if row.startswith("  specs/")]
    assert [row.strip() for row in rows] == [
        "specs/toy/store_note.yaml:3:14",
        "specs/toy/store_note.yaml:4:14",
        "specs/toy/toolset.yaml:4:15",
        "specs/toy/toolset.yaml:8:13",
        "specs/other/toolset.yaml:5:15",
    ]
    output = run_command(
        repo, "remove", "find_note", "--without-notice", "--ignore-mentions"
    )
    assert "specs/toy/store_note.yaml:6:8: Call find_note first.\n" in output
    assert "specs/other/toolset.yaml:4:9: # Here, find_note of toy" in output
    assert "`handlers.toy:find_note` is no longer the handler of a tool" in output


def test_remove_requires_force_for_a_spec_that_git_lacks(repo: Project) -> None:
    repo.edit("specs/toy/store_note.yaml", "Stores a note.", "Stores one note.")
    output = run_rejected(repo, 1, "remove", "store_note", "--without-notice")
    assert "git cannot restore specs/toy/store_note.yaml" in output
    run_command(repo, "remove", "store_note", "--without-notice", "--dry-run")
    run_command(repo, "remove", "store_note", "--without-notice", "--force")


def test_removed_tool_name_is_reserved_in_the_generated_registry(repo: Project) -> None:
    with (repo.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write("mcp_servers: {far: {command: far, allow: [other_tool]}}\n")
    run_command(repo, "remove", "store_note", "--without-notice")
    repo.generate()
    registry = (repo.root / "generated/toy/registry.py").read_text()
    assert '    reserved_names=("store_note",),\n' in registry
