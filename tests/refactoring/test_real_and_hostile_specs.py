"""Edits of real specs change only what they say, and hostile ones are refused or edited right."""

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

from .conftest import contents

ROOT = Path(__file__).parents[2]
HOSTILE = sorted(p.parent for p in (ROOT / "tests/hostile").glob("*/toolcast.yaml"))


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    loaded = load_workspace(str(own_project()))
    assert loaded.workspace is not None
    return loaded.workspace


def test_a_rename_of_any_of_our_tools_changes_its_name_alone(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The rules are tried elsewhere; here they would take their time for each tool.
    monkeypatch.setattr(project_edit, "_list_errors", lambda workspace: [])
    owned = [
        project_edit.OwnedTool(toolset, tool)
        for toolset in workspace.toolsets
        for tool in toolset.tools
    ]
    assert len(owned) > (30 if MISSING else 70)
    for one in owned[::4]:
        edit = rename.rename_tool(workspace, one, "xyz_renamed")
        old = one.tool.name.encode()
        for path, data in edit.after.items():
            if data is None:
                continue
            source = path.replace("xyz_renamed", one.tool.name)
            before = (ROOT / source).read_bytes()
            if source == one.tool.source.file:
                formers = b", ".join(name.encode() for name in one.tool.renamed_from)
                listed = b"renamed_from: [%s%s]\n" % (
                    formers + b", " if formers else b"",
                    old,
                )
                assert data.count(listed) == 1
                there = b"renamed_from: [%s]\n" % formers if formers else b""
                data = data.replace(listed, there)
            assert data.replace(b"xyz_renamed", old) == before, (one.tool.name, path)


@pytest.mark.rows(30)
@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_hostile_specs_are_edited_right_or_not_at_all(
    case: Path, tmp_path: Path, in_time: None
) -> None:
    project = Project(tmp_path / "project")
    shutil.copytree(case, project.root, symlinks=True)
    specs = sorted(p for p in project.root.rglob("*.y*ml") if "tool" not in p.name)
    for name in [path.stem for path in specs][:2]:
        before = contents(project.root)
        for words in (
            ("rename", name, "xyz_renamed"),
            ("remove", name, "--without-notice", "--force"),
        ):
            done = project.toolcast(*words)
            assert done.returncode in (0, 1, 2)
            assert "Traceback" not in done.stderr + done.stdout
            assert "\x1b" not in done.stderr + done.stdout
            if done.returncode:
                assert contents(project.root) == before
                continue
            loaded = load_workspace(str(project.root))
            assert not has_errors(loaded.findings)
            name = "xyz_renamed" if words[0] == "rename" else name
            before = contents(project.root)
