"""The extension in a project of its own, as its users have it."""

import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "toolcast.yaml": "version: 1\ntoolsets: [specs/notes]\nextensions: [owners]\n",
    "specs/notes/toolset.yaml": "name: notes\ntitle: Notes\ntargets: {owners: {}}\n",
    "specs/notes/note.yaml": (
        "name: note\nsummary: Store a note.\nparameters: {type: object}\n"
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path


def toolcast(project: Path, *words: str, expect: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "toolcast", *words],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout + done.stderr


def add(project: Path, text: str) -> None:
    with (project / "specs/notes/note.yaml").open("a") as spec:
        spec.write(text)


def test_a_tool_without_an_owner_is_found(project: Path) -> None:
    said = toolcast(project, "generate")
    assert "note.yaml:1:7: warning: owners/missing: `note` has no owner" in said


def test_the_page_has_the_owner(project: Path) -> None:
    add(project, 'owner: {team: "Notes | Co", channel: "#notes"}\n')
    assert "owners/missing" not in toolcast(project, "generate")
    page = (project / "generated/notes/owners.md").read_text()
    assert r"| note | Notes \| Co | #notes |" in page, "a pipe ends no cell"


def test_a_misspelt_key_is_found(project: Path) -> None:
    add(project, "owner: {taem: Notes}\n")
    assert "did you mean `team`?" in toolcast(project, "generate", expect=1)


def test_editors_complete_the_field(project: Path) -> None:
    assert "The team that answers" in toolcast(project, "schema", "tool")


def test_a_change_of_the_owner_is_told(project: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    for name, text in FILES.items():
        file = before / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    add(project, "owner: {team: Notes}\n")
    told = toolcast(project, "diff", "--against", str(before), "--fail-on", "none")
    assert "tool.owner/changed" in told
