"""Documents with managed regions: `generate` fills them and `check` compares them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.clone.plants import PLANTS, Plant
from toolcast.output import output_folder
from toolcast_runtime.core.safe_folder import Folder

MakeProject = Callable[..., Any]
NOTE = "summary: Store a note.\nparameters: {type: object}\n"
DOCS = "documents: [docs/tools.md]\n"
PAGE = """\
# Mine

<!-- toolcast: tools toy -->
<!-- /toolcast -->

Mine, too."""
FILLED = """\
# Mine

<!-- toolcast: tools toy -->

| Tool | What it does |
| --- | --- |
| `note` | Store a note. |

<!-- /toolcast -->

Mine, too."""


@pytest.fixture
def project(make_project: MakeProject) -> Any:
    project = make_project(
        {"note": NOTE}, toolset="targets: {registry: {}}\n", workspace=DOCS
    )
    project.write("docs/tools.md", PAGE)
    return project


def read_page(project: Any) -> str:
    return str((project.root / "docs/tools.md").read_text(encoding="utf-8"))


def test_generate_fills_a_markdown_region_and_skips_an_unchanged_document(
    project: Any,
) -> None:
    """A region is the text between two `<!-- toolcast: ... -->` comments."""
    run = project.toolcast("generate")
    assert read_page(project) == FILLED
    assert run.stdout.endswith("1 document (1 written, 0 unchanged): docs/tools.md\n")
    assert project.toolcast("check").returncode == 0
    before = (project.root / "docs/tools.md").stat()
    again = project.toolcast("generate").stdout
    assert again.endswith("1 document (0 written, 1 unchanged)\n")
    assert (project.root / "docs/tools.md").stat().st_mtime_ns == before.st_mtime_ns
    project.edit("toolcast.yaml", "docs/tools.md", "docs/tools.md, docs/new.md")
    project.write("docs/new.md", PAGE)
    added = project.toolcast("generate").stdout
    assert added.endswith("2 documents (1 written, 1 unchanged): docs/new.md\n")


def test_check_reports_a_markdown_region_that_is_outdated_by_a_spec_change(
    project: Any,
) -> None:
    project.toolcast("generate")
    project.edit("specs/toy/note.yaml", "Store a note.", "Keep a note.")
    run = project.toolcast("check")
    assert run.returncode == 1
    assert (
        "docs/tools.md:3:1: error: output/outdated-region: the region differs from the specs\n"
        "  3 | <!-- toolcast: tools toy -->\n"
        "    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ) in run.stderr
    assert read_page(project) == FILLED
    project.toolcast("generate")
    assert read_page(project) == FILLED.replace("Store", "Keep")


def test_manual_edit_in_a_markdown_region_is_reported_by_check_and_overwritten(
    project: Any,
) -> None:
    """Edits outside the region are kept."""
    project.toolcast("generate")
    project.edit("docs/tools.md", "Store a note.", "Stores notes!")
    project.edit("docs/tools.md", "Mine, too.", "Mine, too!")
    assert (
        "docs/tools.md:3:1: error: output/outdated-region"
        in project.toolcast("check").stderr
    )
    project.toolcast("generate")
    assert read_page(project) == FILLED.replace("Mine, too.", "Mine, too!")


def test_generate_with_an_invalid_region_marker_in_a_document_writes_nothing(
    project: Any,
) -> None:
    """Markers are the HTML comments around a region that `generate` fills."""
    project.write("docs/tools.md", PAGE + "\n\n<!-- toolcast: tool toy -->\n")
    text = read_page(project)
    run = project.toolcast("generate")
    assert run.returncode == 1
    assert (
        "docs/tools.md:8:1: error: output/invalid-marker: the region has no closing marker"
        in run.stderr
    )
    assert run.stderr.endswith("nothing was written\n")
    assert read_page(project) == text
    assert not (project.root / "generated").exists()


def test_check_reports_a_configured_markdown_document_without_region(
    project: Any,
) -> None:
    project.write("docs/tools.md", "# Mine\n")
    run = project.toolcast("check")
    assert "output/invalid-marker: the document has no region" in run.stderr


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
@pytest.mark.usefixtures("time_limit")
def test_generate_rejects_a_special_file_as_markdown_document(
    plant: Plant, project: Any, outside: Path
) -> None:
    """Links, pipes, devices, folders and files without markers prevent all writes."""
    path = project.root / "docs/tools.md"
    path.unlink()
    (outside / "bashrc").write_text(PAGE, encoding="utf-8")
    plant(path, outside)
    run = project.toolcast("generate")
    assert run.returncode == 1
    is_file = plant.__name__ in ("control_characters", "deeply_nested_json")
    assert (
        f": error: {'output/invalid-marker' if is_file else 'spec/invalid-document'}: "
        in run.stderr
    )
    assert (outside / "bashrc").read_text(encoding="utf-8") == PAGE
    assert not (project.root / "generated").exists()


def test_generate_rejects_a_markdown_document_below_a_symbolic_link(
    project: Any, outside: Path
) -> None:
    (outside / "tools.md").write_text(PAGE, encoding="utf-8")
    (project.root / "docs/tools.md").unlink()
    (project.root / "docs").rmdir()
    (project.root / "docs").symlink_to(outside)
    run = project.toolcast("generate")
    assert "`docs/tools.md` is a symbolic link or below one" in run.stderr
    assert (outside / "tools.md").read_text(encoding="utf-8") == PAGE


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("generated/a.md", "is in the output folder"),
        ("Generated/a.md", "is in the output folder"),
        ("../a.md", "contains `.` or `..`"),
        ("docs/../../a.md", "contains `.` or `..`"),
        ("./docs/tools.md", "contains `.` or `..`"),
        ("gone.md", "does not exist"),
        ("docs/latin.md", "is not UTF-8"),
        ("docs/large.md", "is larger than 4 MiB"),
    ],
)
def test_check_rejects_a_documents_entry_that_is_generated_outside_missing_or_invalid(
    name: str, message: str, project: Any
) -> None:
    (project.root / "docs/latin.md").write_bytes(PAGE.encode() + b"\xe9")
    (project.root / "docs/large.md").write_bytes(b"x\n" * (2 * 1024 * 1024 + 1))
    project.edit("toolcast.yaml", "docs/tools.md", name)
    run = project.toolcast("check")
    assert f"spec/invalid-document: `{name}` {message}" in run.stderr


# MDX is excluded because it evaluates text in braces as code.
@pytest.mark.parametrize(
    "name", ["README", "a.py", "/a.md", "a b.md", "a.md\n", "-", "a.mdx", "C:/a.md"]
)
def test_toolcast_yaml_documents_must_be_relative_markdown_paths(
    name: str, project: Any
) -> None:
    project.write(
        "toolcast.yaml", f"version: 1\ntoolsets: [specs/toy]\ndocuments: [{name!r}]\n"
    )
    run = project.toolcast("check")
    assert run.returncode == 2
    assert "help: Relative path of a Markdown file" in run.stderr


def test_duplicate_path_in_toolcast_yaml_documents_is_rejected(project: Any) -> None:
    project.edit("toolcast.yaml", "docs/tools.md", "docs/tools.md, docs/tools.md")
    run = project.toolcast("check")
    assert run.returncode == 2
    assert "has non-unique elements" in run.stderr


def test_markdown_document_saved_during_generate_is_not_overwritten(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = FILLED + "\nSaved by an editor.\n"
    check_unchanged = output_folder.check_unchanged

    def save_and_check(*arguments: Any) -> Any:
        project.write("docs/tools.md", saved)
        return check_unchanged(*arguments)

    monkeypatch.setattr("toolcast.output.output_folder.check_unchanged", save_and_check)
    run = project.toolcast("generate")
    assert run.returncode == 1
    assert "the file changed during the run" in run.stderr
    assert read_page(project) == saved
    assert not (project.root / "generated/toy").exists()


def test_killed_generate_keeps_the_markdown_document_and_the_next_run_fills_it(
    project: Any,
) -> None:
    """The process is killed after it writes the new file, before the replacement."""
    child = os.fork()
    if child == 0:
        replace = os.replace

        def kill_or_replace(source: str, target: str, **options: Any) -> None:
            if target == "tools.md":
                os.kill(os.getpid(), signal.SIGKILL)
            replace(source, target, **options)

        os.replace = kill_or_replace  # type: ignore[assignment]
        project.toolcast("generate")
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert read_page(project) == PAGE
    assert [entry.name for entry in (project.root / "docs").iterdir()] == ["tools.md"]
    assert "output/outdated-region" in project.toolcast("check").stderr
    assert project.toolcast("generate").returncode == 0
    assert read_page(project) == FILLED
    assert not list((project.root / "generated").glob(".toolcast-*"))


def test_document_folder_replaced_by_a_symlink_during_generate_is_not_followed(
    project: Any, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (outside / "tools.md").write_text(PAGE, encoding="utf-8")
    open_subfolder = Folder.open_subfolder

    def open_then_swap(self: Folder, path: str, **options: Any) -> Folder:
        folder = open_subfolder(self, path, **options)
        docs = project.root / "docs"
        if path == "docs" and not docs.is_symlink():
            docs.rename(project.root / "kept")
            docs.symlink_to(outside)
        return folder

    # The first call opens the real folder to read; later calls find the link.
    monkeypatch.setattr(Folder, "open_subfolder", open_then_swap)
    run = project.toolcast("generate")
    assert run.returncode != 0
    assert (outside / "tools.md").read_text(encoding="utf-8") == PAGE


def test_markdown_regions_filled_after_edits_to_different_tools_merge_without_conflict(
    make_project: MakeProject,
) -> None:
    tools = dict.fromkeys(("a", "b", "c"), NOTE)
    project = make_project(tools, toolset="targets: {registry: {}}\n", workspace=DOCS)
    project.write("docs/tools.md", PAGE)
    pages = []
    for name in ("", "a", "c"):
        if name:
            project.edit(f"specs/toy/{name}.yaml", "Store a note.", f"Keep {name}.")
        project.generate()
        path = project.root / f"side{name}.md"
        path.write_text(read_page(project), encoding="utf-8")
        pages.append(path)
        if name:
            project.edit(f"specs/toy/{name}.yaml", f"Keep {name}.", "Store a note.")
    base, ours, theirs = pages
    run = subprocess.run(
        ["git", "merge-file", "-p", ours, base, theirs],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0
    assert "| `a` | Keep a. |\n| `b` | Store a note. |\n| `c` | Keep c. |" in run.stdout
