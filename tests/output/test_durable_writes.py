"""What is written to the disk at once, and who is alone in a folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcast_runtime.core.safe_folder import Folder, wait_for_folder_lock

fcntl = pytest.importorskip("fcntl")


@pytest.mark.parametrize("is_durable", [True, False])
@pytest.mark.parametrize("is_new", [True, False])
def test_durable_files_are_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_durable: bool, is_new: bool
) -> None:
    waited: list[int] = []
    monkeypatch.setattr(os, "fsync", waited.append)
    with Folder.open_path(str(tmp_path)) as folder:
        folder.write("a", b"x", durable=is_durable, is_new=is_new)
    assert (tmp_path / "a").read_bytes() == b"x"
    assert len(waited) == is_durable


def test_one_is_alone_in_a_folder(tmp_path: Path) -> None:
    other = os.open(tmp_path, os.O_RDONLY)
    try:
        with (
            Folder.open_path(str(tmp_path)) as folder,
            wait_for_folder_lock(folder),
            pytest.raises(BlockingIOError),
        ):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(other)
