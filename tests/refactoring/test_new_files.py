"""Creation of files: never over existing ones, complete or not at all, with their folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import Project
from toolcast_runtime.core.safe_folder import Folder

from .conftest import run_command


def read_tree(root: Path) -> dict[str, bytes]:
    """Return files with their content, and folders with empty content."""
    return {
        path.relative_to(root).as_posix(): b"" if path.is_dir() else path.read_bytes()
        for path in root.rglob("*")
    }


def create_before_write(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Create a file with a name just before the command writes it."""
    write = Folder.write

    def create_and_write(self: Folder, path: str, data: bytes, **options: bool) -> None:
        if path == name:
            Path(self.path, name).write_bytes(b"mine")
        write(self, path, data, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Folder, "write", create_and_write)


@pytest.fixture
def project(notes: Project) -> Project:
    """Return a toolset with handlers in two nested packages that do not exist yet."""
    notes.edit(
        "specs/other/toolset.yaml", "handlers: handlers", "handlers: mine.handlers"
    )
    return notes


NEW = ("new", "wave", "--toolset", "other")
FILES = {"mine", "mine/__init__.py", "mine/handlers", "mine/handlers/__init__.py"}
FILES |= {"mine/handlers/wave.py", "specs/other/wave.yaml"}


@pytest.mark.parametrize("name", ["wave.py", "wave.yaml"])
def test_new_command_does_not_overwrite_a_file_created_concurrently(
    name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command fails, and removes what it created."""
    before = read_tree(project.root)
    create_before_write(monkeypatch, name)
    done = project.toolcast(*NEW)
    assert done.returncode == 2
    after = read_tree(project.root)
    [foreign_file] = [path for path in after if path.endswith(f"/{name}")]
    assert done.stderr == f"error: {foreign_file}: File exists; nothing was written\n"
    assert after.pop(foreign_file) == b"mine"
    for path in after.keys() - before.keys():
        # New folders remain only if they contain the foreign file.
        assert foreign_file.startswith(f"{path}/")
        del after[path]
    assert after == before


def test_new_command_removes_created_folders_after_a_failed_write(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_write = os.write

    def write_until_full(descriptor: int, data: bytes) -> int:
        """Raise an error in the middle of the handler, as on a full disk."""
        if b"def wave" not in bytes(data):
            return real_write(descriptor, data)
        real_write(descriptor, data[:20])
        raise OSError(28, "No space left on device")

    before = read_tree(project.root)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write_until_full)
        done = project.toolcast(*NEW)
    assert done.returncode == 2
    message = "mine/handlers/wave.py: No space left on device; nothing was written"
    assert done.stderr == f"error: {message}\n"
    assert read_tree(project.root) == before
    run_command(project, *NEW)
    assert read_tree(project.root).keys() - before.keys() == FILES


def test_failed_templates_copy_leaves_toolcast_yaml_unchanged(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_tree(project.root)
    create_before_write(monkeypatch, "mcp_server.py.jinja")
    done = project.toolcast("templates", "mcp/mcp_server.py.jinja", "--copy")
    assert done.returncode == 2
    after = read_tree(project.root)
    assert after.keys() - before.keys() == {
        "templates",
        "templates/mcp",
        "templates/mcp/mcp_server.py.jinja",
    }
    assert after["templates/mcp/mcp_server.py.jinja"] == b"mine"
    assert after["toolcast.yaml"] == before["toolcast.yaml"]
