"""`toolcast rename`: edited references, listed mentions and rejected names."""

from __future__ import annotations

import difflib
import os
import shutil
import subprocess
from collections.abc import Callable

import pytest

from tests.conftest import Project

from .conftest import read_files, run_command, run_rejected

AT_ONCE = ("--without-notice", "--ignore-mentions", "--force")


def diff_files(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """Return the removed and added lines with their files."""
    new_paths = {"specs/toy/find_note.yaml": "specs/toy/search.yaml"}
    rows = []
    for path, data in sorted(before.items()):
        old = data.decode().splitlines()
        new = after[new_paths.get(path, path)].decode().splitlines()
        rows += [
            f"{path}: {row}"
            for row in difflib.ndiff(old, new)
            if row.startswith(("+ ", "- "))
        ]
    return rows


def test_rename_edits_references_and_lists_comments_and_code(notes: Project) -> None:
    before = read_files(notes.root)
    output = run_command(notes, "rename", "find_note", "search")
    after = read_files(notes.root)
    assert before.keys() ^ after.keys() == {
        "specs/toy/find_note.yaml",
        "specs/toy/search.yaml",
    }
    assert diff_files(before, after) == [
        "specs/other/toolset.yaml: - instructions: What find_note gives is text.",
        "specs/other/toolset.yaml: + instructions: What `search` gives is text.",
        "specs/toy/find_note.yaml: - name: find_note",
        "specs/toy/find_note.yaml: + name: search",
        "specs/toy/find_note.yaml: - guidance: find_note takes words.",
        'specs/toy/find_note.yaml: + guidance: "`search` takes words."',
        "specs/toy/find_note.yaml: + renamed_from: [find_note]",
        'specs/toy/store_note.yaml: - description: "Stores a note; `find_note` finds it."'
        "  # find_note: see its own file",
        'specs/toy/store_note.yaml: + description: "Stores a note; `search` finds it."'
        "  # find_note: see its own file",
        "specs/toy/store_note.yaml: -   Call find_note first.",
        "specs/toy/store_note.yaml: +   Call search first.",
        'specs/toy/store_note.yaml: - deprecated: {since: "2020-01-01", replacement: find_note}',
        'specs/toy/store_note.yaml: + deprecated: {since: "2020-01-01", replacement: search}',
        "specs/toy/toolset.yaml: - instructions: Begin with find_note.",
        "specs/toy/toolset.yaml: + instructions: Begin with `search`.",
        "specs/toy/toolset.yaml: -       Use find_note.",
        "specs/toy/toolset.yaml: +       Use `search`.",
        "specs/toy/toolset.yaml: -     allow: [find_note, store_note]",
        "specs/toy/toolset.yaml: +     allow: [search, store_note]",
        "specs/toy/toolset.yaml: -       - find_note  # reads only",
        "specs/toy/toolset.yaml: +       - search  # reads only",
        "specs/toy/toolset.yaml: -   - {tool: find_note, target: mcp, reason: find_note is"
        " internal.}",
        'specs/toy/toolset.yaml: +   - {tool: search, target: mcp, reason: "`search` is'
        ' internal."}',
    ]
    left = output.partition("Not changed, for you to review:\n")[2].partition("\n\n")[0]
    assert left.splitlines() == [
        "  specs/toy/search.yaml:2:10: # Finds; find_note is its name.",
        '  specs/toy/store_note.yaml:3:53: description: "Stores a note; `search` finds it."'
        "  # find_note: see its own file",
        "  specs/other/toolset.yaml:4:9: # Here, find_note of toy is meant.",
        '  handlers/toy.py:7:21: "Call find_note."',
    ]


def test_rename_dry_run_prints_a_diff_that_git_can_apply(notes: Project) -> None:
    before = read_files(notes.root)
    arguments = ("rename", "find_note", "search", "--handler")
    diff = run_command(notes, *arguments, "--dry-run")
    assert read_files(notes.root) == before
    moved = "rename from {0}/find_note.yaml\nrename to {0}/search.yaml\n"
    assert moved.format("specs/toy") in diff
    other = notes.root.parent / "other"
    shutil.copytree(notes.root, other)
    for command in (["init", "-q"], ["apply", "-"]):
        subprocess.run(["git", *command], cwd=other, input=diff.encode(), check=True)
    run_command(notes, *arguments)
    assert read_files(other) == read_files(notes.root)


def test_successive_tool_renames_record_every_previous_name(notes: Project) -> None:
    for old, new in (("find_note", "b_c"), ("b_c", "c_d"), ("c_d", "e_f")):
        run_command(notes, "rename", old, new)
    text = (notes.root / "specs/toy/e_f.yaml").read_text()
    assert "renamed_from: [find_note, b_c, c_d]\n" in text
    # A rename to a previous name records the others.
    run_command(notes, "rename", "e_f", "b_c")
    text = (notes.root / "specs/toy/b_c.yaml").read_text()
    assert "renamed_from: [find_note, e_f, c_d]\n" in text
    run_command(notes, "generate")


PREVIOUS_NAME = ("section: notes", "section: notes\nrenamed_from: [old_note]")


@pytest.mark.parametrize(
    ("new", "code", "message"),
    [
        ("store_note", 1, "the toolset toy already has a tool `store_note`"),
        ("Store-Note", 1, "would have the same module `store_note`"),
        ("old_note", 1, "`old_note` is a previous name of the tool `store_note`"),
        ("kept_back", 1, "`kept_back` is reserved: It was unsafe."),
        ("Kept-Back", 1, "`Kept-Back` looks like `kept_back`, which is reserved"),
        ("their_note", 1, "`their_note` is a tool of the MCP server `theirs`"),
        ("find note", 2, "did you mean `find_note`?"),
        ("../evil", 2, "is not a valid tool name"),
        ("", 2, "is not a valid tool name"),
        ("find_note", 2, "the tool already has the name `find_note`"),
        ("a" * 129, 2, "is not a valid tool name"),
        ("toolset", 1, "`toolset.yaml` is a file of the toolset itself"),
        ("Toolset", 1, "`Toolset.yaml` is a file of the toolset itself"),
    ],
)
def test_rename_to_an_invalid_used_or_reserved_tool_name_is_rejected(
    notes: Project, new: str, code: int, message: str
) -> None:
    notes.edit("specs/toy/store_note.yaml", *PREVIOUS_NAME)
    with (notes.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write(
            "reserved_names: [{name: kept_back, reason: It was unsafe.}]\n"
            "mcp_servers: {theirs: {command: x, allow: [note], prefix: their_}}\n"
        )
    assert message in run_rejected(notes, code, "rename", "--", "find_note", new)


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("fnd_note", "did you mean `find_note`?"),
        ("old_note", "use the tool's current name `store_note`"),
    ],
)
def test_rename_suggests_the_current_tool_name_for_an_unknown_or_previous_one(
    notes: Project, old: str, message: str
) -> None:
    notes.edit("specs/toy/store_note.yaml", *PREVIOUS_NAME)
    assert message in run_rejected(notes, 2, "rename", old, "x")


def test_rename_accepts_a_tool_name_qualified_by_its_toolset(notes: Project) -> None:
    run_command(notes, "rename", "toy/find_note", "search")
    assert "specs/toy/search.yaml" in read_files(notes.root)
    output = run_rejected(notes, 2, "rename", "others/search", "x")
    assert "no toolset `others`" in output


def test_rename_of_a_name_in_two_toolsets_requires_toolset_option(
    notes: Project,
) -> None:
    other = notes.root / "specs/other"
    shutil.copy(other / "ping.yaml", notes.root / "specs/toy/ping.yaml")
    notes.edit("specs/other/toolset.yaml", "is text.", "is text, as ping's.")
    output = run_rejected(notes, 2, "rename", "ping", "pong")
    assert "add `--toolset` with one of `toy` and `other`" in output
    run_command(notes, "rename", "ping", "pong_all", "--toolset", "toy")
    # The other toolset refers to its own tool of this name.
    assert "ping's" in (other / "toolset.yaml").read_text()


def test_rename_lists_mentions_that_could_mean_another_tool(notes: Project) -> None:
    for name in ("second", "third"):
        instructions = "instructions: Call find_note.\n" if name == "third" else ""
        begin = f"name: {name}\ntitle: More\nhandlers: handlers\n"
        targets = "targets: {mcp: {}, registry: {}}\n"
        notes.write(f"specs/{name}/toolset.yaml", begin + instructions + targets)
    spec = (notes.root / "specs/other/ping.yaml").read_text()
    notes.write("specs/second/find_note.yaml", spec.replace("ping", "find_note"))
    toolsets = "specs/other, specs/second, specs/third]"
    notes.edit("toolcast.yaml", "specs/other]", toolsets)
    output = run_command(notes, "rename", "find_note", "search", "--toolset", "toy")
    assert "specs/third/toolset.yaml:4:20: instructions: Call find_note." in output
    assert "specs/other/toolset.yaml:5:20: instructions: What find_note" in output
    assert "specs/second" not in output


def test_rename_lists_mentions_that_could_mean_a_parameter(notes: Project) -> None:
    notes.edit("specs/toy/find_note.yaml", "    words:", "    find_note:")
    output = run_command(notes, "rename", "find_note", "search")
    assert "specs/toy/toolset.yaml:4:26: instructions: Begin with find_note." in output
    assert "specs/toy/toolset.yaml:12:13" not in output  # client lists are unambiguous
    assert "    find_note: {type" in (notes.root / "specs/toy/search.yaml").read_text()


def test_tool_rename_does_not_edit_a_common_word_equal_to_the_tool_name(
    make_project: Callable[..., Project],
) -> None:
    spec = "summary: {}\nparameters: {{type: object}}\n"
    project = make_project(
        {
            "memory": spec.format("Keeps what matters in memory."),
            "note": spec.format("Long-term memory; call memory, or `memory`."),
        },
        toolset="targets: {mcp: {}, registry: {}, prompts: {}}\n",
    )
    run_command(project, "rename", "memory", "recall_all")
    text = (project.root / "specs/toy/note.yaml").read_text()
    assert "Long-term memory; call recall_all, or `recall_all`." in text
    assert "in memory." in (project.root / "specs/toy/recall_all.yaml").read_text()
    run_command(project, "generate")


def test_rename_lists_and_keeps_a_tool_name_inside_a_path(notes: Project) -> None:
    """The handler's function may be missing."""
    notes.edit("specs/toy/find_note.yaml", "Finds notes.", "Finds docs/find_note.md.")
    notes.edit("specs/toy/find_note.yaml", "toy:find_note", "toy:find_note_gone")
    output = run_command(notes, "rename", "find_note", "search")
    assert "specs/toy/search.yaml:4:21: summary: Finds docs/find_note.md." in output


def test_rename_edits_toolcast_accept_yaml_and_override_file(notes: Project) -> None:
    with (notes.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write("clients_override: conf/clients.json\n")
    override = notes.write("conf/clients.json", '{"desk": {"allow": ["find_note"]}}\n')
    entry = "  - {{rule: tool/removed, {}, reason: So be it.}}\n"
    targets = ("tool: find_note", "tool: find_note, toolset: toy")
    other = entry.format("tool: find_note, toolset: other")
    text = "version: 1\naccept:\n" + "".join(map(entry.format, targets)) + other
    file = notes.write("toolcast.accept.yaml", text)
    run_command(notes, "rename", "find_note", "search")
    renamed = text.replace("tool: find_note", "tool: search", 2)
    assert file.read_text() == renamed
    assert override.read_text() == '{"desk": {"allow": ["search"]}}\n'


def test_rename_and_remove_edit_tool_selection_cases(notes: Project) -> None:
    with (notes.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write(
            "cases:\n"
            "  - {message: Where did I put it?, tool: find_note, never: [store_note]}\n"
            "  - message: Keep find_note for me.\n"
            "    tool: store_note\n"
            "    never: [find_note]\n"
        )
    with (notes.root / "specs/toy/store_note.yaml").open("a") as stream:
        stream.write("cases: [{message: Keep this., never: [find_note]}]\n")
    output = run_command(notes, "rename", "find_note", "search")
    toolset = (notes.root / "specs/toy/toolset.yaml").read_text()
    assert "it?, tool: search, never: [store_note]}" in toolset
    assert "    tool: store_note\n    never: [search]\n" in toolset
    tool = (notes.root / "specs/toy/store_note.yaml").read_text()
    assert "cases: [{message: Keep this., never: [search]}]" in tool
    # Messages of users are listed and not edited.
    assert "message: Keep find_note for me." in output
    notes.edit("specs/toy/store_note.yaml", "replacement: search", "replacement: ping")
    run_command(notes, "remove", "search", *AT_ONCE)
    toolset = (notes.root / "specs/toy/toolset.yaml").read_text()
    assert toolset.endswith("    tool: store_note\n    never: []\n")
    assert "Where did I" not in toolset
    tool = (notes.root / "specs/toy/store_note.yaml").read_text()
    assert "never: []}]" in tool


MARKED = """\
<!-- toolcast:  parameters toy find_note-->  \r
old\r
<!-- /toolcast -->\r
```
<!-- toolcast: parameters toy find_note -->
```
<!-- toolcast: parameters toy store_note -->
<!-- /toolcast -->
<!-- toolcast: parameters toy find_note -->
<!-- /toolcast -->"""


def test_rename_edits_and_remove_lists_region_markers_in_markdown_documents(
    notes: Project,
) -> None:
    with (notes.root / "toolcast.yaml").open("a") as stream:
        stream.write("documents: [docs/tools.md]\n")
    document = notes.root / "docs/tools.md"
    document.parent.mkdir()
    document.write_bytes(MARKED.encode())
    run_command(notes, "rename", "find_note", "search")
    before, after = MARKED.split("\n"), document.read_bytes().decode().split("\n")
    changed = {i: new for i, new in enumerate(after) if new != before[i]}
    mark = "<!-- toolcast: parameters toy search -->"
    assert changed == {0: f"{mark}  \r", 8: mark}
    notes.edit("specs/toy/store_note.yaml", "replacement: search", "replacement: ping")
    output = run_command(notes, "remove", "search", *AT_ONCE)
    assert "  docs/tools.md:9:1: <!-- toolcast: parameters toy search -->" in output


def test_rename_does_not_edit_a_markdown_document_above_4_mib(notes: Project) -> None:
    """`check` reports such a document as too large."""
    with (notes.root / "toolcast.yaml").open("a") as stream:
        stream.write("documents: [tools.md]\n")
    region = b"<!-- toolcast: parameters toy find_note -->\n<!-- /toolcast -->\n"
    document = notes.root / "tools.md"
    document.write_bytes(region.ljust((4 << 20) + 1))
    run_command(notes, "rename", "find_note", "search")
    assert document.read_bytes() == region.ljust((4 << 20) + 1)
    document.write_bytes(region.replace(b"find_note", b"search").ljust(4 << 20))
    run_command(notes, "rename", "search", "find_note")
    assert document.read_bytes() == region.ljust((4 << 20) + 3)


def test_rename_lists_imports_of_the_generated_tool_module(notes: Project) -> None:
    """Generated modules of types are named after their tool."""
    code = (
        "from generated.toy.tools.find_note import FindNoteArguments\n"
        "from generated.toy.tools import find_note, store_note\n"
        "import generated.toy.tools.find_note_all\n"
        "import generated.toy.tools.find_note as types\n"
    )
    notes.write("handlers/more/typed.py", code)
    output = run_command(notes, "rename", "find_note", "search")
    lines = [row.partition(": ")[0] for row in output.splitlines() if "typed" in row]
    assert lines == [f"  handlers/more/typed.py:{line}:1" for line in (1, 2, 4)]


def test_rename_in_a_project_with_spec_errors_is_rejected(notes: Project) -> None:
    notes.edit("specs/other/ping.yaml", "summary:", "sumary:")
    output = run_rejected(notes, 1, "rename", "find_note", "search")
    assert "did you mean `summary`" in output


def test_rename_that_causes_a_spec_error_is_rejected(notes: Project) -> None:
    """Rules check the specs as they would be after the rename."""
    notes.edit("specs/toy/toolset.yaml", "targets: {", "targets: {skills: {}, ")
    for name in ("find_note", "store_note"):
        notes.edit(f"specs/toy/{name}.yaml", "summary:", "skill: {}\nsummary:")
    output = run_rejected(notes, 1, "rename", "find_note", "store__note")
    assert "error: name/skill-name: the skill's name `store-note` is also" in output
    assert "error: the specs would have the errors above after this change\n" in output


@pytest.mark.parametrize("kind", ["link", "folder of links", "existing pipe"])
def test_rename_is_rejected_for_a_spec_with_a_symlink_or_pipe_in_its_paths(
    notes: Project, outside: os.PathLike[str], kind: str
) -> None:
    spec = notes.root / "specs/toy/find_note.yaml"
    if kind == "link":
        spec.rename(notes.root / "real.yaml")
        spec.symlink_to(notes.root / "real.yaml")
        message = "specs/toy/find_note.yaml is a symbolic link"
    elif kind == "folder of links":
        (notes.root / "specs").rename(notes.root / "real")
        (notes.root / "specs").symlink_to(notes.root / "real")
        message = "a folder of specs/toy/find_note.yaml is a symbolic link"
    else:
        os.mkfifo(notes.root / "specs/toy/search.yml")
        (notes.root / "specs/toy/search.yml").rename(notes.root / "specs/toy/search")
        os.mkfifo(notes.root / "specs/toy/search.yaml")
        message = "search.yaml"
    assert message in run_rejected(notes, 1, "rename", "find_note", "search")


def test_rename_with_a_failed_write_restores_every_file(
    notes: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolcast_runtime.core.safe_folder import Folder

    real_write, names = Folder.write, []

    def fail_third_write(self: Folder, name: str, data: bytes, **options: bool) -> None:
        names.append(name)
        if len(names) == 3:
            raise OSError(28, "No space left on device", name)
        real_write(self, name, data, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Folder, "write", fail_third_write)
    output = run_rejected(notes, 1, "rename", "find_note", "search")
    assert "No space left on device; nothing was written" in output


def test_rename_can_change_only_the_tool_name_letter_case(notes: Project) -> None:
    run_command(notes, "rename", "find_note", "Find_Note")
    assert (notes.root / "specs/toy/Find_Note.yaml").exists()
    assert not (notes.root / "specs/toy/find_note.yaml").exists()


def test_rename_that_would_edit_a_read_only_file_is_rejected(notes: Project) -> None:
    (notes.root / "specs/toy/toolset.yaml").chmod(0o444)
    output = run_rejected(notes, 1, "rename", "find_note", "search")
    assert "specs/toy/toolset.yaml is read-only" in output


def test_rename_to_a_common_word_puts_it_in_backticks(notes: Project) -> None:
    notes.write(
        "specs/toy/more.yaml",
        """\
        name: more
        summary: 'find_note''s friend: **find_note**.'
        when_to_use: Use find_note (find_note), or "find_note", run find_note.
        guidance: |
          find_note: see `x find_note y` and

          ```
          find_note(1)
          ```
          find_note
        parameters: {type: object}
        """,
    )
    run_command(notes, "rename", "find_note", "search")
    assert (notes.root / "specs/toy/more.yaml").read_text() == """\
name: more
summary: '`search`''s friend: **`search`**.'
when_to_use: Use `search` (`search`), or "search", run search.
guidance: |
  `search`: see `x search y` and

  ```
  search(1)
  ```
  `search`
parameters: {type: object}
"""


def test_rename_edits_names_with_an_mcp_client_prefix(notes: Project) -> None:
    """The name in another letter case, and names in scanned files, are listed."""
    notes.write("AGENTS.md", "Allow mcp__toy__find_note.\n")
    with (notes.root / "toolcast.yaml").open("a") as stream:
        stream.write("scan: [AGENTS.md]\n")
    guidance = "guidance: Allow mcp__toy__find_note, not x_find_note. Find_Note!\n"
    spec = notes.root / "specs/toy/store_note.yaml"
    spec.write_text(guidance + spec.read_text())
    output = run_command(notes, "rename", "find_note", "look_up")
    assert spec.read_text().startswith(
        "guidance: Allow mcp__toy__look_up, not x_find_note. Find_Note!\n"
    )
    assert "  specs/toy/store_note.yaml:1:53: " in output
    assert "  AGENTS.md:1:17: Allow mcp__toy__find_note." in output
