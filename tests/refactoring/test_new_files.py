"""New files: over nothing that somebody makes meanwhile, whole or not at all, with their folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Project
from toolcast_runtime.core.safe_folder import Folder

from .conftest import run


def everything(root: Path) -> dict[str, bytes]:
    """Files, and folders with nothing for their bytes."""
    return {
        path.relative_to(root).as_posix(): b"" if path.is_dir() else path.read_bytes()
        for path in root.rglob("*")
    }


def made_meanwhile(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Lets somebody make a file just before it is written."""
    write = Folder.write

    def writes(self: Folder, path: str, data: bytes, **options: bool) -> None:
        if path == name:
            Path(self.path, name).write_bytes(b"mine")
        write(self, path, data, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Folder, "write", writes)


@pytest.fixture
def project(notes: Project) -> Project:
    """A toolset whose handlers are two packages down, of which none is there."""
    notes.edit(
        "specs/other/toolset.yaml", "handlers: handlers", "handlers: mine.handlers"
    )
    return notes


NEW = ("new", "wave", "--toolset", "other")
FILES = {"mine", "mine/__init__.py", "mine/handlers", "mine/handlers/__init__.py"}
FILES |= {"mine/handlers/wave.py", "specs/other/wave.yaml"}


@pytest.mark.parametrize("name", ["wave.py", "wave.yaml"])
def test_what_somebody_makes_meanwhile_stays(
    name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(project.root)
    made_meanwhile(monkeypatch, name)
    done = project.toolcast(*NEW)
    assert done.returncode == 2
    after = everything(project.root)
    [theirs] = [path for path in after if path.endswith(f"/{name}")]
    assert done.stderr == f"error: {theirs}: File exists; nothing was written\n"
    assert after.pop(theirs) == b"mine"
    for path in after.keys() - before.keys():
        # Theirs is in them.
        assert theirs.startswith(f"{path}/")
        del after[path]
    assert after == before


def test_folders_that_were_made_are_taken_back(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = os.write

    def is_full(descriptor: int, data: bytes) -> int:
        """A disk that is full in the middle of the handler."""
        if b"def wave" not in bytes(data):
            return system(descriptor, data)
        system(descriptor, data[:20])
        raise OSError(28, "No space left on device")

    before = everything(project.root)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", is_full)
        done = project.toolcast(*NEW)
    assert done.returncode == 2
    says = "mine/handlers/wave.py: No space left on device; nothing was written"
    assert done.stderr == f"error: {says}\n"
    assert everything(project.root) == before
    run(project, *NEW)
    assert everything(project.root).keys() - before.keys() == FILES


def test_a_copied_template_takes_back_its_folders(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything(project.root)
    made_meanwhile(monkeypatch, "mcp_server.py.jinja")
    done = project.toolcast("templates", "mcp/mcp_server.py.jinja", "--copy")
    assert done.returncode == 2
    after = everything(project.root)
    assert after.keys() - before.keys() == {
        "templates",
        "templates/mcp",
        "templates/mcp/mcp_server.py.jinja",
    }
    assert after["templates/mcp/mcp_server.py.jinja"] == b"mine"
    assert after["toolcast.yaml"] == before["toolcast.yaml"]
