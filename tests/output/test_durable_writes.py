"""Durable writes with `fsync`, and exclusive locks on folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolcast_runtime.core.safe_folder import Folder, wait_for_folder_lock

fcntl = pytest.importorskip("fcntl")


@pytest.mark.parametrize("is_durable", [True, False])
@pytest.mark.parametrize("is_new", [True, False])
def test_folder_write_calls_fsync_only_if_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_durable: bool, is_new: bool
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    with Folder.open_path(str(tmp_path)) as folder:
        folder.write("a", b"x", durable=is_durable, is_new=is_new)
    assert (tmp_path / "a").read_bytes() == b"x"
    assert len(synced) == is_durable


def test_locked_folder_cannot_be_locked_by_another_descriptor(tmp_path: Path) -> None:
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
