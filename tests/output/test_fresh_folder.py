"""An output folder that was not there appears as a whole, or not at all."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from toolcast.output.plan import make_plan
from toolcast.output.writer import Written, exclusive, write

FILES = {
    "a.txt": b"a",
    "x/b.txt": b"b" * 100_000,
    "x/y/c.txt": b"",
    "MANIFEST.json": b"{}",
}


def run(root: Path, step: Callable[[], object] = bool) -> Written:
    """One run into a folder of the project, as `generate` does it."""
    folder = str(root / "out")
    with exclusive(str(root)):
        plan = make_plan(folder, FILES, str(root))
        return write(folder, FILES, plan, step, str(root))


def on_disk(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def unfinished(root: Path) -> list[str]:
    """What runs left of folders that never became the output."""
    return [
        name for name in os.listdir(root / ".toolcast") if name.startswith("output-")
    ]


def test_its_files_look_as_they_did_when_they_were_written(tmp_path: Path) -> None:
    written = run(tmp_path)
    assert on_disk(tmp_path / "out") == FILES
    assert unfinished(tmp_path) == []
    for path, look in written.looks.items():
        seen = (tmp_path / "out" / path).stat()
        assert look == (seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


@pytest.mark.parametrize("at", range(1, len(FILES) + 1))
def test_a_killed_run_leaves_no_folder_and_the_next_one_tidies_up(
    tmp_path: Path, at: int
) -> None:
    child = os.fork()
    if child == 0:

        def counted() -> None:
            nonlocal at
            at -= 1
            if at == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            run(tmp_path, counted)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert len(unfinished(tmp_path)) == 1
    run(tmp_path)
    assert on_disk(tmp_path / "out") == FILES
    assert unfinished(tmp_path) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space"):
        run(tmp_path, full)
    assert not (tmp_path / "out").exists()
    assert unfinished(tmp_path) == []


def test_a_folder_that_somebody_makes_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    def theirs() -> None:
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / "mine.txt").write_text("mine")

    with pytest.raises(OSError, match="not empty"):
        run(tmp_path, theirs)
    assert on_disk(tmp_path / "out") == {"mine.txt": b"mine"}
    assert unfinished(tmp_path) == []


def test_modes_are_those_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        run(tmp_path)
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "out/x/b.txt").stat().st_mode & 0o777 == 0o640


def test_an_own_folder_elsewhere_means_file_by_file(tmp_path: Path) -> None:
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "project"
    (elsewhere / "output-0123456789ab.tmp").mkdir(parents=True)
    root.mkdir()
    (root / ".toolcast").symlink_to(elsewhere)
    run(root)
    assert on_disk(root / "out") == FILES
    assert (
        elsewhere / "output-0123456789ab.tmp"
    ).is_dir(), "nothing goes behind a link"


def test_only_what_a_run_left_is_removed_and_no_link_followed(tmp_path: Path) -> None:
    own, mine = tmp_path / ".toolcast", tmp_path / "mine"
    left = own / "output-0123456789ab.tmp"
    left.mkdir(parents=True)
    mine.mkdir()
    (mine / "kept.txt").write_text("kept")
    (left / "link").symlink_to(mine)
    (own / "output-of-mine.tmp").mkdir()
    (own / "output-0123456789ac.tmp").symlink_to(mine)
    run(tmp_path)
    assert not left.exists()
    assert (mine / "kept.txt").read_text() == "kept"
    assert (own / "output-of-mine.tmp").is_dir()
