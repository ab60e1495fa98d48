"""Safe folders, also without directory descriptors, as on Windows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from toolcast_runtime.core import safe_folder
from toolcast_runtime.core.safe_file import NotRegularFileError
from toolcast_runtime.core.safe_folder import Folder, SymlinkError


@pytest.fixture
def paths_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_folder, "_HAS_DESCRIPTORS", False)
    # The lock uses a Windows function, which other systems lack.
    monkeypatch.setattr(safe_folder, "_lock_user_file", contextlib.nullcontext)


def test_folder_without_descriptors_follows_no_link(
    tmp_path: Path, paths_only: None
) -> None:
    """Writes replace a link, and reads through it raise an error."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "victim").write_text("mine")
    top = tmp_path / "top"
    top.mkdir()
    (top / "link").symlink_to(tmp_path / "outside")
    (top / "file").symlink_to(tmp_path / "victim")
    with Folder.open_path(str(top)) as opened:
        assert opened.descriptor is None and opened.is_private()
        with pytest.raises(SymlinkError):
            opened.open_subfolder("link/deeper", create=True)
        with pytest.raises(FileExistsError):
            opened.write("file", b"x", is_new=True)
        with pytest.raises(NotRegularFileError):
            opened.read("file", 10)
        opened.write("file", b"new")
        opened.write("other", b"new")
    assert (tmp_path / "victim").read_text() == "mine"
    assert sorted(os.listdir(top)) == ["file", "link", "other"]
    assert (top / "file").read_text() == "new" and not (top / "file").is_symlink()
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("by_descriptor", [True, False])
def test_folder_writes_and_removals_outside_the_folder_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_descriptor: bool
) -> None:
    if not by_descriptor:
        monkeypatch.setattr(safe_folder, "_HAS_DESCRIPTORS", False)
    top = tmp_path / "top"
    top.mkdir()
    (tmp_path / "mine").write_text("mine")
    with Folder.open_path(str(top)) as opened:
        for name in ("../mine", str(tmp_path / "mine")):
            with pytest.raises(OSError, match="leads out of the folder"):
                opened.write(name, b"x")
            with pytest.raises(OSError, match="leads out of the folder"):
                opened.remove_file(name)
        with pytest.raises(OSError, match="leads out of the folder"):
            opened.open_subfolder("../top/x", create=True)
    assert (tmp_path / "mine").read_text() == "mine"
    assert list(top.iterdir()) == []


def test_opening_a_file_as_a_folder_raises_not_a_directory_error(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        Folder.open_path(str(tmp_path / "file"))


def test_opening_a_windows_junction_as_a_subfolder_raises_a_symlink_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`stat` reports a directory with a reparse tag that only Windows has."""
    (tmp_path / "junction").mkdir()

    class Status:
        st_mode = (tmp_path / "junction").stat().st_mode
        st_reparse_tag = 0xA0000003

    monkeypatch.setattr(Folder, "lstat", lambda self, name: Status())
    with Folder.open_path(str(tmp_path)) as opened, pytest.raises(SymlinkError):
        opened.open_subfolder("junction")


def test_generate_works_without_directory_descriptors_as_on_windows(
    small: Any, run: Callable[..., Result], paths_only: None
) -> None:
    small.edit("specs/toy/greet.yaml", "Greet somebody.", "Greet everybody.")
    (small.root / "specs/toy/part.yaml").unlink()
    assert run("generate").exit_code == 0
    assert run("check").exit_code == 0
    assert not (small.root / "generated/toy/tools/part.json").exists()


@pytest.mark.parametrize("by_descriptor", [True, False])
@pytest.mark.parametrize("has_links", [True, False])
def test_new_file_in_a_folder_is_complete_and_never_overwrites_a_path(
    by_descriptor: bool,
    has_links: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raise_permission_error(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not by_descriptor:
        monkeypatch.setattr(safe_folder, "_HAS_DESCRIPTORS", False)
    if not has_links:
        monkeypatch.setattr(os, "link", raise_permission_error)
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "victim")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    with Folder.open_path(str(tmp_path)) as opened:
        for name in ("victim", "link", "dangling"):
            with pytest.raises(FileExistsError) as caught:
                opened.write(name, b"x", is_new=True)
            assert caught.value.filename == str(tmp_path / name)
        opened.write("other", b"new", is_new=True)
    assert (tmp_path / "victim").read_text() == "mine"
    assert (tmp_path / "other").read_bytes() == b"new"
    assert (tmp_path / "other").stat().st_nlink == 1
    names = ["dangling", "link", "other", "victim"]
    assert sorted(os.listdir(tmp_path)) == names


@pytest.mark.parametrize(
    ("mode", "is_private"), [(0o755, True), (0o775, False), (0o757, False)]
)
def test_folder_is_private_if_no_other_user_may_write_to_it(
    tmp_path: Path, mode: int, is_private: bool
) -> None:
    tmp_path.chmod(mode)
    with Folder.open_path(str(tmp_path)) as opened:
        assert opened.is_private() is is_private
