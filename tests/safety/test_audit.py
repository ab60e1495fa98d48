"""Audit events of `generate` and `check`: files, processes, sockets and executed code.

A new process runs both commands on every hostile project and on this repository.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import toolcast
from tests.repository import copy_project
from tests.safety.hostile_cases import CORPUS, copy_hostile_case

# Every hostile project is generated again, under a hook that is called for each event.
# One run generates every hostile project, which takes half of the default timeout.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]
CASES = sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())
DRIVER = Path(__file__).with_name("audit_driver.py")
# Paths of the generator, its templates, the standard library and the dependencies.
GENERATOR_PATHS = (
    os.path.realpath(os.path.dirname(toolcast.__file__)),
    os.path.realpath(ROOT / "templates"),
    *(os.path.realpath(sysconfig.get_path(name)) for name in ("stdlib", "purelib")),
    os.path.realpath(sys.base_prefix),
)
REPOSITORY = "the repository itself"
WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MAX_MEMORY_KIB = 200 * 1024


def find_cache_folder() -> str:
    """Return the user's cache folder for projects, which runs may write."""
    return os.path.join(os.environ["XDG_CACHE_HOME"], "toolcast", "")


class Audit:
    """The events of a run over all projects, with the name of each project's folder."""

    def __init__(self, log: Path, projects: dict[str, str]) -> None:
        record = json.loads(log.read_text("utf-8"))
        self.peak: int = record["peak"]
        self.modules: set[str] = set(record["modules"])
        self.events: list[list[Any]] = record["events"]
        self.projects = projects

    def list_events(self, *prefixes: str) -> list[list[Any]]:
        return [event for event in self.events if event[1].startswith(prefixes)]

    def list_opened_files(self) -> Iterator[tuple[str, str, bool]]:
        """Yield project, path, and whether it is written; paths in it are relative."""
        for root, _, path, mode, flags in self.list_events("open"):
            if isinstance(path, str):
                absolute = os.path.join(os.path.realpath(os.path.dirname(path)), "")
                full = absolute + os.path.basename(path)
                real_root = os.path.realpath(root) + os.sep
                is_write = bool(mode and set(mode) & set("wax+")) or bool(
                    flags & WRITE_FLAGS
                )
                yield root, full.removeprefix(real_root), is_write


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    """Record the events of a run over all hostile projects and this repository."""
    folder = tmp_path_factory.mktemp("audit")
    projects = {str(copy_hostile_case(case, folder / case)): case for case in CASES}
    own = folder / "own"
    own.mkdir()
    copy_project(own, "examples", "generated")
    projects[str(own)] = REPOSITORY
    warm_up = shutil.copytree(own, folder / "warm-up")
    log = folder / "log.json"
    subprocess.run(
        [sys.executable, "-B", str(DRIVER), str(log), str(warm_up), *projects],
        check=True,
        cwd=folder,
        stdin=subprocess.DEVNULL,
    )
    return Audit(log, projects)


def test_audit_hook_received_events_of_each_hostile_project(audit: Audit) -> None:
    assert {event[0] for event in audit.events} == set(audit.projects)


def test_generate_and_check_open_no_socket_and_start_no_process(audit: Audit) -> None:
    network_events = "socket. urllib. http. ftplib. smtplib. ctypes. pty."
    process_events = "subprocess. os.exec os.fork os.spawn os.posix_spawn"
    events = f"{network_events} {process_events} os.system os.startfile os.kill".split()
    assert audit.list_events(*events) == []


def test_generate_and_check_execute_no_code_from_a_spec(audit: Audit) -> None:
    """All executed code existed before the first hostile spec was read.

    Rendered modules are compiled to check their syntax, and handlers are parsed for their
    signatures, but neither is executed.
    """
    executed = {event[2] for event in audit.list_events("exec")}
    # Dataclasses and the attrs class of jsonschema compile methods from field names.
    jsonschema_validator = (
        "<attrs generated methods jsonschema.validators.create.<locals>.Validator>"
    )
    others = {name for name in executed if not name.startswith(GENERATOR_PATHS)}
    assert others <= {"<string>", jsonschema_validator}
    assert audit.list_events("pickle.") == []
    compiled = {event[2] for event in audit.list_events("compile")}
    known = {"<generated>", "<unknown>", "<string>", "None", jsonschema_validator}
    assert compiled <= known


def test_generate_and_check_import_no_handler(audit: Audit) -> None:
    imported = {str(event[2]) for event in audit.list_events("import")} | audit.modules
    packages = {name.split(".")[0] for name in imported}
    assert not packages & {"handlers_of_row", "examples", "generated", "os:system"}
    for root in audit.projects:
        assert not (Path(root) / "trap-was-sprung").exists()


def test_generate_and_check_read_no_files_outside_project_generator_and_cache(
    audit: Audit,
) -> None:
    """Handlers are read as text to compare their signatures with the specs."""
    for root, path, is_write in audit.list_opened_files():
        is_known = path in (os.devnull, os.path.realpath(root)) or path.startswith(
            (*GENERATOR_PATHS, find_cache_folder())
        )
        if is_write or is_known:
            continue
        assert not os.path.isabs(path), f"{audit.projects[root]} reads {path}"
        first = path.split(os.sep)[0]
        known = ("toolcast.yaml", "specs", "generated", "handlers_of_row", "examples")
        assert first in known, f"{audit.projects[root]} reads {path}"


def test_generate_and_check_write_only_outputs_and_the_cache(audit: Audit) -> None:
    changing = (
        "os.mkdir os.rename os.remove os.rmdir os.chmod os.link os.symlink os.truncate"
        " os.utime shutil. os.chown"
    ).split()
    touched = [
        (root, path) for root, path, is_write in audit.list_opened_files() if is_write
    ]
    for event in audit.list_events(*changing):
        for path in event[2:]:
            if isinstance(path, str) and os.sep in path:
                touched.append((event[0], os.path.relpath(path, event[0])))
    assert touched
    for root, path in touched:
        if os.path.abspath(os.path.join(root, path)).startswith(find_cache_folder()):
            continue
        is_output = path.split(os.sep)[0] == "generated"
        assert is_output or path == os.devnull, f"{audit.projects[root]} writes {path}"


def test_generate_and_check_use_less_than_200_mib_memory(audit: Audit) -> None:
    assert audit.peak < MAX_MEMORY_KIB
