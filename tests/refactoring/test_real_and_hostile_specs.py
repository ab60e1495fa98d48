"""Edits of this repository's specs and of hostile ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.repository import MISSING, own_project
from toolcast.findings import has_errors
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace
from toolcast.refactoring import project_edit, rename

from .conftest import read_files

ROOT = Path(__file__).parents[2]
HOSTILE = sorted(p.parent for p in (ROOT / "tests/hostile").glob("*/toolcast.yaml"))


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    loaded = load_workspace(str(own_project()))
    assert loaded.workspace is not None
    return loaded.workspace


def test_tool_renames_in_this_repository_change_only_the_tool_names(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Checking the rules for each tool would be slow, and other tests cover them.
    monkeypatch.setattr(project_edit, "_list_errors", lambda workspace: [])
    owned = [
        project_edit.OwnedTool(toolset, tool)
        for toolset in workspace.toolsets
        for tool in toolset.tools
    ]
    assert len(owned) > (30 if MISSING else 70)
    for owned_tool in owned[::4]:
        edit = rename.rename_tool(
            workspace, owned_tool, "xyz_renamed", with_handler=False
        )
        old = owned_tool.tool.name.encode()
        for path, data in edit.after.items():
            if data is None:
                continue
            source = path.replace("xyz_renamed", owned_tool.tool.name)
            before = (ROOT / source).read_bytes()
            if source == owned_tool.tool.source.file:
                previous = ", ".join(owned_tool.tool.renamed_from).encode()
                names = b"%s, %s" % (previous, old) if previous else old
                new_line = b"renamed_from: [%s]\n" % names
                assert data.count(new_line) == 1
                old_line = b"renamed_from: [%s]\n" % previous if previous else b""
                data = data.replace(new_line, old_line)
            assert data.replace(b"xyz_renamed", old) == before, (old, path)


@pytest.mark.rows(30)
@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_rename_and_remove_edit_hostile_specs_correctly_or_not_at_all(
    case: Path, tmp_path: Path, time_limit: None
) -> None:
    project = Project(tmp_path / "project")
    shutil.copytree(case, project.root, symlinks=True)
    specs = sorted(p for p in project.root.rglob("*.y*ml") if "tool" not in p.name)
    for name in [path.stem for path in specs][:2]:
        before = read_files(project.root)
        for arguments in (
            ("rename", name, "xyz_renamed"),
            ("remove", name, "--without-notice", "--force"),
        ):
            done = project.toolcast(*arguments)
            assert done.returncode in (0, 1, 2)
            assert "Traceback" not in done.stderr + done.stdout
            assert "\x1b" not in done.stderr + done.stdout
            if done.returncode:
                assert read_files(project.root) == before
                continue
            loaded = load_workspace(str(project.root))
            assert not has_errors(loaded.findings)
            name = "xyz_renamed" if arguments[0] == "rename" else name
            before = read_files(project.root)
