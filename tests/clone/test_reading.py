"""Reading a file by its path: bounded, never waiting, and of regular files only."""

from __future__ import annotations

import os
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from tests.clone.plants import PLANTS, Plant, clear
from tests.runtime.packages import Package, definition
from toolcast_runtime import DefinitionError, Registry
from toolcast_runtime.core.access import Access, AccessError, Client
from toolcast_runtime.core.override_file import OverrideFile
from toolcast_runtime.core.safe_file import NotRegularFileError, read_regular_file
from toolcast_runtime.core.safe_folder import Folder, open_for_append

NO_FILES = [
    p for p in PLANTS if p.__name__ not in ("large", "deep", "escapes", "no_text")
]
pytestmark = pytest.mark.usefixtures("in_time")
SEVERAL = pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.__name__)


@pytest.mark.parametrize("plant", NO_FILES, ids=lambda plant: plant.__name__)
def test_what_is_no_regular_file_is_refused_and_named(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    place = tmp_path / "place"
    plant(place, outside)
    if not place.is_file():
        with pytest.raises(OSError) as caught:
            read_regular_file(str(place), 100)
        assert caught.value.filename == str(place)
        assert caught.value.strerror
    with (
        Folder.open_path(str(tmp_path)) as folder,
        pytest.raises(NotRegularFileError) as refused,
    ):
        folder.read("place", 100)
    assert refused.value.filename == str(place)


def test_a_pipe_that_takes_a_files_place_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    place.write_bytes(b"text")
    real = os.open

    def swapped(path: Any, *more: Any, **named: Any) -> int:
        place.unlink(missing_ok=True)
        os.mkfifo(place)
        return real(path, *more, **named)

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(NotRegularFileError, match="this is a pipe"):
        read_regular_file(str(place), 100)


def test_a_file_that_keeps_growing_ends_at_the_bound(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_bytes(b"x")
    ended = threading.Event()

    def grow() -> None:
        with place.open("ab", buffering=0) as stream:
            while not ended.is_set() and stream.tell() < 1 << 24:
                stream.write(b"x" * 4096)

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        for _ in range(50):
            assert len(read_regular_file(str(place), 100_000)) <= 100_000
    finally:
        ended.set()
        thread.join()


def test_no_more_memory_is_taken_than_a_file_has_bytes(tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"x" * 1000)
    with Folder.open_path(str(tmp_path)) as folder:
        tracemalloc.start()
        assert len(read_regular_file(str(tmp_path / "small"), 1 << 30)) == 1000
        assert len(folder.read("small", 1 << 30)) == 1000
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 50_000


def test_a_file_that_says_it_is_empty_is_read() -> None:
    """As those of /proc do."""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("there is no /proc")
    assert b"Name:" in read_regular_file("/proc/self/status", 10_000)


@SEVERAL
def test_an_override_opens_nothing(tmp_path: Path, outside: Path, plant: Plant) -> None:
    place = tmp_path / "clients.json"
    plant(place, outside)
    access = Access({"internal": Client(allow="*")}, {})
    with pytest.raises(AccessError, match=r"clients\.json"):
        OverrideFile("NO_VARIABLE", str(place)).apply(access, str, lambda name: True)


@pytest.mark.parametrize(
    "plant",
    # What is imported has no bound: whoever brings generated code can run more than that.
    [plant for plant in PLANTS if plant.__name__ != "large"],
    ids=lambda plant: plant.__name__,
)
def test_a_definition_is_refused(tmp_path: Path, outside: Path, plant: Plant) -> None:
    package = Package(tmp_path, definition("note"), definition("other"))
    place = package.folder / "note.json"
    clear(place)
    plant(place, outside)
    with pytest.raises(DefinitionError, match=r"note\.json"):
        Registry(package.load())


@pytest.mark.parametrize("plant", NO_FILES, ids=lambda plant: plant.__name__)
def test_a_log_is_not_written_into_it(
    tmp_path: Path, outside: Path, plant: Plant
) -> None:
    """`--log FILE` of a toolset's commands."""
    place = tmp_path / "log"
    plant(place, outside)
    with pytest.raises(OSError) as caught:
        open_for_append(str(place))
    assert caught.value.filename == str(place)
    assert (outside / "bashrc").read_text("utf-8") == "echo mine\n"
    assert not (outside / "not-there-yet").exists()


def test_a_log_is_its_owners(tmp_path: Path) -> None:
    for line in ("one\n", "two\n"):
        with open_for_append(str(tmp_path / "log")) as stream:
            stream.write(line)
    assert (tmp_path / "log").read_text("utf-8") == "one\ntwo\n"
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600
