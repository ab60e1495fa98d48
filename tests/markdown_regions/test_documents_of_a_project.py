"""`generate` fills the regions of named documents, `check` holds them, and nothing else moves."""

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
NAMED = "documents: [docs/tools.md]\n"
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
    made = make_project(
        {"note": NOTE}, toolset="targets: {registry: {}}\n", workspace=NAMED
    )
    made.write("docs/tools.md", PAGE)
    return made


def page(project: Any) -> str:
    return str((project.root / "docs/tools.md").read_text(encoding="utf-8"))


def test_generate_fills_and_check_holds(project: Any) -> None:
    done = project.toolcast("generate")
    assert page(project) == FILLED
    assert done.stdout.endswith("1 document (1 written, 0 unchanged): docs/tools.md\n")
    assert project.toolcast("check").returncode == 0
    before = (project.root / "docs/tools.md").stat()
    again = project.toolcast("generate").stdout
    assert again.endswith("1 document (0 written, 1 unchanged)\n")
    assert (project.root / "docs/tools.md").stat().st_mtime_ns == before.st_mtime_ns


def test_a_changed_spec_is_found_in_the_document(project: Any) -> None:
    project.toolcast("generate")
    project.edit("specs/toy/note.yaml", "Store a note.", "Keep a note.")
    done = project.toolcast("check")
    assert done.returncode == 1
    assert (
        "docs/tools.md:3:1: error: output/outdated-region: the region differs from the specs\n"
        "  3 | <!-- toolcast: tools toy -->\n"
        "    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
    ) in done.stderr
    assert page(project) == FILLED
    project.toolcast("generate")
    assert page(project) == FILLED.replace("Store", "Keep")


def test_what_was_written_by_hand_in_a_region_is_named_and_replaced(
    project: Any,
) -> None:
    project.toolcast("generate")
    project.edit("docs/tools.md", "Store a note.", "Stores notes!")
    project.edit("docs/tools.md", "Mine, too.", "Mine, too!")
    assert (
        "docs/tools.md:3:1: error: output/outdated-region"
        in project.toolcast("check").stderr
    )
    project.toolcast("generate")
    assert page(project) == FILLED.replace("Mine, too.", "Mine, too!")


def test_a_wrong_mark_writes_nothing_anywhere(project: Any) -> None:
    project.write("docs/tools.md", PAGE + "\n\n<!-- toolcast: tool toy -->\n")
    text = page(project)
    done = project.toolcast("generate")
    assert done.returncode == 1
    assert (
        "docs/tools.md:8:1: error: output/invalid-marker: the region has no closing marker"
        in done.stderr
    )
    assert done.stderr.endswith("nothing was written\n")
    assert page(project) == text
    assert not (project.root / "generated").exists()


def test_a_document_without_a_region_is_found(project: Any) -> None:
    project.write("docs/tools.md", "# Mine\n")
    done = project.toolcast("check")
    assert "output/invalid-marker: the document has no region" in done.stderr


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)
@pytest.mark.usefixtures("in_time")
def test_only_a_regular_file_is_a_document(
    plant: Plant, project: Any, outside: Path
) -> None:
    place = project.root / "docs/tools.md"
    place.unlink()
    (outside / "bashrc").write_text(PAGE, encoding="utf-8")
    plant(place, outside)
    done = project.toolcast("generate")
    assert done.returncode == 1
    is_file = plant.__name__ in ("control_characters", "deeply_nested_json")
    assert (
        f": error: {'output/invalid-marker' if is_file else 'spec/invalid-document'}: "
        in done.stderr
    )
    assert (outside / "bashrc").read_text(encoding="utf-8") == PAGE
    assert not (project.root / "generated").exists()


def test_no_folder_of_it_is_a_link(project: Any, outside: Path) -> None:
    (outside / "tools.md").write_text(PAGE, encoding="utf-8")
    (project.root / "docs/tools.md").unlink()
    (project.root / "docs").rmdir()
    (project.root / "docs").symlink_to(outside)
    done = project.toolcast("generate")
    assert "`docs/tools.md` is a symbolic link or below one" in done.stderr
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
def test_documents_that_cannot_be(name: str, message: str, project: Any) -> None:
    (project.root / "docs/latin.md").write_bytes(PAGE.encode() + b"\xe9")
    (project.root / "docs/large.md").write_bytes(b"x\n" * (2 * 1024 * 1024 + 1))
    project.edit("toolcast.yaml", "docs/tools.md", name)
    done = project.toolcast("check")
    assert f"spec/invalid-document: `{name}` {message}" in done.stderr


# What stands in braces is code in MDX.
@pytest.mark.parametrize(
    "name", ["README", "a.py", "/a.md", "a b.md", "a.md\n", "-", "a.mdx", "C:/a.md"]
)
def test_only_paths_of_markdown_are_documents(name: str, project: Any) -> None:
    project.write(
        "toolcast.yaml", f"version: 1\ntoolsets: [specs/toy]\ndocuments: [{name!r}]\n"
    )
    done = project.toolcast("check")
    assert done.returncode == 2
    assert "help: Relative path of a Markdown file" in done.stderr


def test_a_document_is_named_once(project: Any) -> None:
    project.edit("toolcast.yaml", "docs/tools.md", "docs/tools.md, docs/tools.md")
    done = project.toolcast("check")
    assert done.returncode == 2
    assert "has non-unique elements" in done.stderr


def test_a_document_that_is_saved_meanwhile_is_left(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = FILLED + "\nSaved by an editor.\n"
    look = output_folder.check_unchanged

    def edited_before(*arguments: Any) -> Any:
        project.write("docs/tools.md", saved)
        return look(*arguments)

    monkeypatch.setattr("toolcast.output.output_folder.check_unchanged", edited_before)
    done = project.toolcast("generate")
    assert done.returncode == 1
    assert "the file changed during the run" in done.stderr
    assert page(project) == saved
    assert not (project.root / "generated/toy").exists()


def test_a_killed_run_leaves_it_whole_and_the_next_one_heals(project: Any) -> None:
    """Killed where the new bytes are written and not yet in their place."""
    child = os.fork()
    if child == 0:
        replace = os.replace

        def killed(source: str, target: str, **ends: Any) -> None:
            if target == "tools.md":
                os.kill(os.getpid(), signal.SIGKILL)
            replace(source, target, **ends)

        os.replace = killed  # type: ignore[assignment]
        project.toolcast("generate")
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert page(project) == PAGE
    assert [entry.name for entry in (project.root / "docs").iterdir()] == ["tools.md"]
    assert "output/outdated-region" in project.toolcast("check").stderr
    assert project.toolcast("generate").returncode == 0
    assert page(project) == FILLED
    assert not list((project.root / "generated").glob(".toolcast-*"))


def test_a_folder_that_becomes_a_link_is_not_written_through(
    project: Any, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (outside / "tools.md").write_text(PAGE, encoding="utf-8")
    below = Folder.open_subfolder

    def swapped(self: Folder, path: str, **options: Any) -> Folder:
        opened = below(self, path, **options)
        docs = project.root / "docs"
        if path == "docs" and not docs.is_symlink():
            docs.rename(project.root / "kept")
            docs.symlink_to(outside)
        return opened

    # The first time is the reading; from the second on, the folder is elsewhere.
    monkeypatch.setattr(Folder, "open_subfolder", swapped)
    done = project.toolcast("generate")
    assert done.returncode != 0
    assert (outside / "tools.md").read_text(encoding="utf-8") == PAGE


def test_two_branches_that_change_two_tools_merge(make_project: MakeProject) -> None:
    tools = dict.fromkeys(("a", "b", "c"), NOTE)
    project = make_project(tools, toolset="targets: {registry: {}}\n", workspace=NAMED)
    project.write("docs/tools.md", PAGE)
    sides = []
    for name in ("", "a", "c"):
        if name:
            project.edit(f"specs/toy/{name}.yaml", "Store a note.", f"Keep {name}.")
        project.generate()
        path = project.root / f"side{name}.md"
        path.write_text(page(project), encoding="utf-8")
        sides.append(path)
        if name:
            project.edit(f"specs/toy/{name}.yaml", f"Keep {name}.", "Store a note.")
    base, ours, theirs = sides
    done = subprocess.run(
        ["git", "merge-file", "-p", ours, base, theirs],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0
    assert (
        "| `a` | Keep a. |\n| `b` | Store a note. |\n| `c` | Keep c. |" in done.stdout
    )
