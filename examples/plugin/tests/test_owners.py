"""The extension's field, rule and target in a separate project."""

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


def write_files(folder: Path) -> None:
    """Write the project's files to `folder`."""
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project that enables the extension, with one tool."""
    write_files(tmp_path)
    return tmp_path


def run_toolcast(project: Path, *arguments: str, exit_code: int = 0) -> str:
    """Run a command with the expected exit code and return its output."""
    completed = subprocess.run(
        [sys.executable, "-m", "toolcast", *arguments],
        cwd=project,
        capture_output=True,
        text=True,
    )
    output = completed.stdout + completed.stderr
    assert completed.returncode == exit_code, output
    return output


def append_to_spec(project: Path, text: str) -> None:
    with (project / "specs/notes/note.yaml").open("a") as spec:
        spec.write(text)


def test_tool_without_owner_is_reported(project: Path) -> None:
    output = run_toolcast(project, "generate")
    assert "note.yaml:1:7: warning: owners/missing: `note` has no owner" in output


def test_page_lists_the_owner_and_escapes_pipes(project: Path) -> None:
    append_to_spec(project, 'owner: {team: "Notes | Co", channel: "#notes"}\n')
    assert "owners/missing" not in run_toolcast(project, "generate")
    page = (project / "generated/notes/owners.md").read_text()
    assert r"| note | Notes \| Co | #notes |" in page


def test_misspelled_key_gets_a_suggestion(project: Path) -> None:
    append_to_spec(project, "owner: {taem: Notes}\n")
    assert "did you mean `team`?" in run_toolcast(project, "generate", exit_code=1)


def test_schema_for_editors_contains_the_field(project: Path) -> None:
    assert "The team that owns" in run_toolcast(project, "schema", "tool")


def test_changed_owner_is_reported_by_diff(project: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    write_files(before)
    append_to_spec(project, "owner: {team: Notes}\n")
    output = run_toolcast(
        project, "diff", "--against", str(before), "--fail-on", "none"
    )
    assert "tool.owner/changed" in output
