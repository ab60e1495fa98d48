"""`scan`: project files that mention retired tool names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project
from toolcast.analysis.retired_names import blank_code, scan_files
from toolcast.model.loading import load_workspace
from toolcast.pipeline import generate

SPEC = "summary: Finds.\nparameters: {type: object}\nrenamed_from: [search_memory, memory]\n"
TOOLSET = (
    "targets: {mcp: {}, registry: {}, prompts: {}}\n"
    "reserved_names: [{name: drop_all, reason: It was unsafe.}]\n"
)
SCAN_HELP = "correct the entry of `scan`, or exclude files in `not_scanned`"


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    return make_project(
        {"recall": SPEC},
        toolset=TOOLSET,
        workspace="scan: [docs, src, AGENTS.md]\nnot_scanned: [docs/history.md]\n",
    )


def list_messages(project: Project) -> list[str]:
    """Return location, message and help of each finding of the rule."""
    return [
        f"{f.location.file}:{f.location.line}:{f.location.column} {f.message}; {f.help}"
        for f in generate(str(project.root)).findings
        if f.rule == "name/retired-name-used"
    ]


def test_scan_finds_retired_names_in_markdown_and_code(project: Project) -> None:
    project.write("AGENTS.md", "# Tools\n\nCall `memory`, never drop_all. My memory.\n")
    project.write("docs/deep/er.md", "Use search_memory.\n")
    project.write("docs/history.md", "search_memory was renamed.\n")
    project.write("docs/.hidden/a.md", "search_memory\n")
    project.write("docs/node_modules/a.md", "search_memory\n")
    project.write(
        "src/a.py",
        '''\
        def search_memory(memory):  # search_memory
            """Runs
            search_memory."""
            return search_memory, f"{search_memory} search_memory", call("memory")
        ''',
    )
    project.write("src/a.ts", "call('memory'); call(memory); search_memory()\n")
    renamed = "the file still mentions `{}`; use the current name, `recall`"
    reserved = "the file still mentions `drop_all`; remove the name, which is reserved: It was unsafe."
    assert list_messages(project) == [
        f"AGENTS.md:3:7 {renamed.format('memory')}",
        f"AGENTS.md:3:22 {reserved}",
        f"docs/deep/er.md:1:5 {renamed.format('search_memory')}",
        f"src/a.py:1:31 {renamed.format('search_memory')}",
        f"src/a.py:3:5 {renamed.format('search_memory')}",
        f"src/a.py:4:30 {renamed.format('search_memory')}",
        f"src/a.py:4:45 {renamed.format('search_memory')}",
        f"src/a.py:4:67 {renamed.format('memory')}",
        f"src/a.ts:1:7 {renamed.format('memory')}",
        f"src/a.ts:1:31 {renamed.format('search_memory')}",
    ]


def test_scan_accepts_a_retired_name_that_another_tool_has_now(
    project: Project,
) -> None:
    project.write("AGENTS.md", "Call search_memory.\n")
    project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy, specs/other]")
    project.write(
        "specs/other/toolset.yaml", "name: other\ntitle: Other\ntargets: {mcp: {}}\n"
    )
    spec = "name: search_memory\nsummary: Finds.\nparameters: {type: object}\n"
    project.write("specs/other/search_memory.yaml", spec)
    assert not [row for row in list_messages(project) if "AGENTS.md" in row]


def test_scan_reports_symbolic_links_and_pipes_and_does_not_read_them(
    project: Project, outside: Path, time_limit: None
) -> None:
    (outside / "a.md").write_text("search_memory\n")
    (project.root / "docs").symlink_to(outside)
    folder = project.root / "src"
    folder.mkdir()
    (folder / "link.md").symlink_to(outside / "a.md")
    (folder / "links").symlink_to(outside)
    os.mkfifo(folder / "pipe.md")
    (folder / "binary.md").write_bytes(b"search_memory\0")
    (folder / "latin.md").write_bytes(b"\xe9 search_memory\n")
    os.mkfifo(project.root / "AGENTS.md")
    findings = generate(str(project.root)).findings
    messages = [
        f"{f.location.file}:{f.location.line} {f.message}"
        for f in findings
        if "outside" in f.message or f.rule == "name/retired-name-used"
    ]
    # A link to another folder is rejected before any file is read.
    assert messages == ["toolcast.yaml:3 `docs` is outside of the project"]
    (project.root / "docs").unlink()
    (project.root / "docs").symlink_to(folder)
    assert list_messages(project) == [
        "src/latin.md:1:3 the file still mentions `search_memory`; use the current name, `recall`",
        f"toolcast.yaml:3:8 `docs` is a symbolic link, and links are not followed; {SCAN_HELP}",
        f"toolcast.yaml:3:19 `AGENTS.md` is not a file or a folder; {SCAN_HELP}",
    ]


@pytest.mark.parametrize("path", [".", "..", "../x", "/etc", "a//b", "~"])
def test_invalid_path_in_the_toolcast_yaml_scan_setting_is_an_error(
    project: Project, path: str
) -> None:
    project.edit("toolcast.yaml", "scan: [docs", f"scan: ['{path}'")
    loaded = load_workspace(str(project.root))
    assert loaded.workspace is None
    assert loaded.findings[0].rule == "spec/invalid-value"


@pytest.mark.parametrize("count", [3, 4])
def test_scan_reports_that_files_above_the_maximum_number_are_not_read(
    project: Project, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcast.analysis.retired_names._MAX_FILES", 3)
    for number in range(count):
        project.write(f"docs/{number}.md", "search_memory\n")
    loaded = load_workspace(str(project.root))
    assert loaded.workspace is not None
    result = scan_files(loaded.workspace)
    assert len(result.mentions) == 3
    problems = [problem for _, problem in result.problems]
    assert any("more than 3 files" in problem for problem in problems) == (count > 3)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("drop_all\n" * 1_000, 1_000),
        ("drop_all\n" * 1_001, 1_000),
        ("drop_all".rjust(1_048_576, "\n"), 1),
        ("drop_all".rjust(1_048_577, "\n"), 0),
        ("\0 drop_all".rjust(8_202, "\n"), 1),
        ("\0 drop_all".rjust(8_201, "\n"), 0),
    ],
)
def test_scan_returns_at_most_1000_mentions_in_the_first_mebibyte(
    text: str, count: int, project: Project
) -> None:
    """Files with a null byte among the first 8192 bytes are binary."""
    project.write("AGENTS.md", text)
    workspace = load_workspace(str(project.root)).workspace
    assert workspace is not None
    assert len(scan_files(workspace).mentions) == count


@pytest.mark.parametrize(
    "text",
    ["def (\n'x'", "'''x", "x = '\\\n", "\tx\n  y\n", "a\x0cb # c\n", "é = 'é' # é"],
)
def test_blank_code_for_the_retired_name_scan_keeps_line_lengths(text: str) -> None:
    rows = blank_code(text).split("\n")
    assert [len(row) for row in rows] == [len(row) for row in text.split("\n")]


def test_retired_tool_name_of_a_project_template_is_reported(project: Project) -> None:
    """Outputs of the built-in templates contain no retired names."""
    assert not [
        f
        for f in generate(str(project.root)).findings
        if f.location.file.startswith("generated/")
    ]
    with (project.root / "toolcast.yaml").open("a") as stream:
        stream.write("templates: templates\n")
    template = Path(__file__).parents[2] / "templates/prompts/preamble_frame.md.jinja"
    text = template.read_text("utf-8").replace(
        "{{ view.heading }}", "{{ view.heading }}\n\nNever call drop_all.", 1
    )
    assert "drop_all" in text
    project.write("templates/prompts/preamble_frame.md.jinja", text)
    findings = [
        f
        for f in generate(str(project.root)).findings
        if f.location.file.startswith("generated/")
    ]
    assert [(f.location.file, f.message) for f in findings] == [
        (
            f"generated/toy/prompts/{file}",
            "the output still contains the previous name `drop_all`",
        )
        for file in ("__init__.py", "preamble.md")
    ]
