"""Reading and appending by path: bounded, never blocking, and only regular files."""

from __future__ import annotations

import os
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.clone.plants import PLANTS, Plant, clear_path, sparse_terabyte
from tests.runtime.packages import Package, definition
from toolcast_runtime import DefinitionError, Registry
from toolcast_runtime.core.access import Access, AccessError, Client
from toolcast_runtime.core.override_file import OverrideFile
from toolcast_runtime.core.safe_file import NotRegularFileError, read_regular_file
from toolcast_runtime.core.safe_folder import Folder, open_for_append

# The last four plants are regular files.
SPECIAL_FILES = PLANTS[:-4]
pytestmark = pytest.mark.usefixtures("time_limit")


@pytest.mark.parametrize("plant", SPECIAL_FILES)
def test_read_regular_file_refuses_links_pipes_and_devices_with_their_path(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    """Sockets and folders are refused, too."""
    path = tmp_path / "place"
    plant(path, outside)
    if not path.is_file():
        with pytest.raises(OSError) as caught:
            read_regular_file(str(path), 100)
        assert caught.value.filename == str(path)
        assert caught.value.strerror
    with (
        Folder.open_path(str(tmp_path)) as folder,
        pytest.raises(NotRegularFileError) as refused,
    ):
        folder.read("place", 100)
    assert refused.value.filename == str(path)


def test_read_regular_file_refuses_a_pipe_that_replaced_the_file_before_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "place"
    path.write_bytes(b"text")
    real_open = os.open

    def swap_and_open(file: Any, *args: Any, **kwargs: Any) -> int:
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        return real_open(file, *args, **kwargs)

    monkeypatch.setattr(os, "open", swap_and_open)
    with pytest.raises(NotRegularFileError, match="this is a pipe"):
        read_regular_file(str(path), 100)


def test_read_regular_file_reads_a_growing_file_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "place"
    path.write_bytes(b"x")
    is_done = threading.Event()

    def grow() -> None:
        with path.open("ab", buffering=0) as stream:
            while not is_done.is_set() and stream.tell() < 1 << 24:
                stream.write(b"x" * 4096)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(50):
            assert len(read_regular_file(str(path), 100_000)) <= 100_000
    finally:
        is_done.set()
        thread.join()


def test_read_regular_file_allocates_only_the_file_size(tmp_path: Path) -> None:
    """The limit of 1 GiB is not allocated for a small file."""
    (tmp_path / "small").write_bytes(b"x" * 1000)
    with Folder.open_path(str(tmp_path)) as folder:
        tracemalloc.start()
        assert len(read_regular_file(str(tmp_path / "small"), 1 << 30)) == 1000
        assert len(folder.read("small", 1 << 30)) == 1000
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 50_000


def test_read_regular_file_reads_a_proc_file_with_size_zero() -> None:
    if not os.path.exists("/proc/self/status"):
        pytest.skip("there is no /proc")
    assert b"Name:" in read_regular_file("/proc/self/status", 10_000)


@pytest.mark.parametrize("plant", PLANTS)
def test_malformed_or_special_client_override_file_raises_access_error(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    path = tmp_path / "clients.json"
    plant(path, outside)
    access = Access({"internal": Client(allow="*")}, {})
    with pytest.raises(AccessError, match=r"clients\.json"):
        OverrideFile("NO_VARIABLE", str(path)).apply(access, str, lambda name: True)


@pytest.mark.parametrize(
    "plant",
    # Definitions have no maximum size: generated code that is imported can do anything.
    [plant for plant in PLANTS if plant is not sparse_terabyte],
)
def test_malformed_or_special_tool_definition_file_raises_definition_error(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    package = Package(tmp_path, definition("note"), definition("other"))
    path = package.folder / "note.json"
    clear_path(path)
    plant(path, outside)
    with pytest.raises(DefinitionError, match=r"note\.json"):
        Registry(package.load())


@pytest.mark.parametrize("plant", SPECIAL_FILES)
def test_cli_log_option_does_not_write_to_links_pipes_or_devices(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    path = tmp_path / "log"
    plant(path, outside)
    with pytest.raises(OSError) as caught:
        open_for_append(str(path))
    assert caught.value.filename == str(path)
    assert (outside / "bashrc").read_text("utf-8") == "echo mine\n"
    assert not (outside / "not-there-yet").exists()


def test_cli_log_file_is_appended_and_readable_only_by_owner(tmp_path: Path) -> None:
    for line in ("one\n", "two\n"):
        with open_for_append(str(tmp_path / "log")) as stream:
            stream.write(line)
    assert (tmp_path / "log").read_text("utf-8") == "one\ntwo\n"
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
