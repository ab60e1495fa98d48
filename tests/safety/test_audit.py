"""What a run does to the machine, as Python's own audit hook sees it.

A fresh process generates and checks every hostile input, and this repository's own
workspace: no socket, no process, nothing of a spec executed, no handler imported, read and
written only where it may be.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import toolcast
from tests.repository import copy_project

# It generates everything once more, under a hook that sees every event.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
CASES = sorted(f.name for f in (ROOT / "tests" / "hostile").iterdir() if f.is_dir())
DRIVER = Path(__file__).with_name("audit_driver.py")
# The package with its templates and schemas, and what it stands on.
OWN = (
    os.path.realpath(os.path.dirname(toolcast.__file__)),
    os.path.realpath(ROOT / "templates"),
    *(os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "purelib")),
    os.path.realpath(sys.base_prefix),
)
OWN_WORDS = "the repository itself"
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MOST_MEMORY = 200 * 1024  # KiB


def cache() -> str:
    """What a run keeps of a project is in the user's own cache folder."""
    return os.path.join(os.environ["XDG_CACHE_HOME"], "toolcast", "")


class Audit:
    """The events of one run over everything, and where each project is."""

    def __init__(self, log: Path, places: dict[str, str]) -> None:
        noted = json.loads(log.read_text("utf-8"))
        self.peak: int = noted["peak"]
        self.modules: set[str] = set(noted["modules"])
        self.events: list[list[Any]] = noted["events"]
        self.places = places

    def of(self, *prefixes: str) -> list[list[Any]]:
        return [event for event in self.events if event[1].startswith(prefixes)]

    def opened(self) -> Iterator[tuple[str, str, bool]]:
        """Project, path below it or whole path, and whether it was for writing."""
        for root, _, path, mode, flags in self.of("open"):
            if isinstance(path, str):
                absolute = os.path.join(os.path.realpath(os.path.dirname(path)), "")
                full = absolute + os.path.basename(path)
                real_root = os.path.realpath(root) + os.sep
                is_write = bool(mode and set(mode) & set("wax+")) or bool(
                    flags & WRITES
                )
                yield root, full.removeprefix(real_root), is_write


@pytest.fixture(scope="module")
def audit(
    tmp_path_factory: pytest.TempPathFactory, lay_out_one: Callable[[str, Path], Path]
) -> Audit:
    folder = tmp_path_factory.mktemp("audit")
    places = {str(lay_out_one(case, folder / case)): case for case in CASES}
    own = folder / "own"
    own.mkdir()
    copy_project(own, "examples", "generated")
    places[str(own)] = OWN_WORDS
    warm_up = shutil.copytree(own, folder / "warm-up")
    log = folder / "log.json"
    subprocess.run(
        [sys.executable, "-B", str(DRIVER), str(log), str(warm_up), *places],
        check=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )
    return Audit(log, places)


def test_everything_ran(audit: Audit) -> None:
    assert {audit.places[event[0]] for event in audit.events} == set(
        audit.places.values()
    )


def test_no_socket_no_process(audit: Audit) -> None:
    talking = ("socket.", "urllib.", "http.", "ftplib.", "smtplib.", "ctypes.", "pty.")
    starting = ("subprocess.", "os.exec", "os.fork", "os.spawn", "os.posix_spawn")
    assert audit.of(*talking, *starting, "os.system", "os.startfile", "os.kill") == []


def test_nothing_is_executed(audit: Audit) -> None:
    """All code was there before the first hostile spec was read.

    What is rendered is compiled to see that it is Python, and handlers' sources are parsed
    for their signatures; neither is ever executed.
    """
    executed = {event[2] for event in audit.of("exec")}
    # A dataclass makes its own methods of its fields' names, as the judge of values does.
    judge = "<attrs generated methods jsonschema.validators.create.<locals>.Validator>"
    others = {name for name in executed if not name.startswith(OWN)}
    assert others <= {"<string>", judge}
    assert audit.of("pickle.") == []
    compiled = {event[2] for event in audit.of("compile")}
    assert compiled <= {"<generated>", "<unknown>", "<string>", "None", judge}


def test_no_handler_is_imported(audit: Audit) -> None:
    imported = {str(event[2]) for event in audit.of("import")} | audit.modules
    assert not {
        name
        for name in imported
        if name.split(".")[0]
        in ("handlers_of_row", "examples", "generated", "os:system")
    }
    for root in audit.places:
        assert not (Path(root) / "trap-was-sprung").exists()


def test_reads_only_specs_templates_and_itself(audit: Audit) -> None:
    """Handlers' sources are read as text, to compare signatures with specs."""
    for root, path, is_write in audit.opened():
        if is_write or path.startswith((*OWN, cache())) or path == os.devnull:
            continue
        if path == os.path.realpath(root):
            continue
        assert not os.path.isabs(path), f"{audit.places[root]} reads {path}"
        first = path.split(os.sep)[0]
        known = ("toolcast.yaml", "specs", "generated", "handlers_of_row", "examples")
        assert first in known, f"{audit.places[root]} reads {path}"


def test_writes_only_outputs(audit: Audit) -> None:
    changing = (
        "os.mkdir",
        "os.rename",
        "os.remove",
        "os.rmdir",
        "os.chmod",
        "os.link",
        "os.symlink",
        "os.truncate",
        "os.utime",
        "shutil.",
        "os.chown",
    )
    touched = [(root, path) for root, path, is_write in audit.opened() if is_write]
    for event in audit.of(*changing):
        paths = [part for part in event[2:] if isinstance(part, str) and os.sep in part]
        for path in paths:
            touched.append((event[0], os.path.relpath(path, event[0])))
    assert touched
    for root, path in touched:
        if os.path.abspath(os.path.join(root, path)).startswith(cache()):
            continue
        first = path.split(os.sep)[0]
        assert (
            first == "generated" or path == os.devnull
        ), f"{audit.places[root]} writes {path}"


def test_memory_is_bounded(audit: Audit) -> None:
    assert audit.peak < MOST_MEMORY
