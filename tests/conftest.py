"""Projects in temporary folders, and the `toolcast` command as a real process."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.program import toolcast
from tests.repository import copy_project

# How fast a machine is decides on no test. Tests that say something else about health checks
# have to say this, too.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")

# nohup and background jobs of a shell ignore interrupts, and so would every process that
# the tests start and interrupt.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than cores, since many tests wait for processes that they end."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps the garbage collector from reading thousands of tests again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a long table `make test` tries the rows that its mark wants, spread over it."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("rows") and not item.get_closest_marker("slow"):
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for rows in tables.values():
        mark = rows[0].get_closest_marker("rows")
        assert mark is not None
        wanted = {len(rows) * number // mark.args[0] for number in range(mark.args[0])}
        for index, row in enumerate(rows):
            if index not in wanted:
                row.add_marker("slow")


ROOT = Path(__file__).parents[1]
CACHES = shutil.ignore_patterns("__pycache__", ".*")


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What runs keep of projects goes to a folder of the session."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def _ledger_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Recorded calls go to a file of the session, also those of processes it starts."""
    file = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    os.environ["KIRISHIMA_LEDGER"] = str(file)
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder for mypy's `--cache-dir`, which the type checks of a session share.

    What a check of this repository has found out about the libraries is in it; that takes a
    small project longer than everything else.
    """
    folder = tmp_path_factory.mktemp("mypy")
    version = "{}.{}".format(*sys.version_info)
    if (known := ROOT / ".mypy_cache" / version).is_dir():
        shutil.copytree(known, folder / version)
    return str(folder)


@dataclass(frozen=True)
class Project:
    """The folder of a toolcast.yaml."""

    root: Path

    def write(self, path: str, text: str) -> Path:
        """Writes a file; common indentation is taken off."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")
        return target

    def edit(self, path: str, old: str, new: str) -> None:
        """Replaces a text that stands once in a file."""
        target = self.root / path
        text = target.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has {text.count(old)} times: {old}"
        target.write_text(text.replace(old, new), encoding="utf-8")

    def run(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        given: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs Python with these words in the project."""
        return subprocess.run(
            [sys.executable, *words],
            cwd=cwd or self.root,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **(env or {})},
            input=given,
            stdin=None if given is not None else subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )

    def toolcast(
        self,
        *words: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs the `toolcast` command in the project.

        With an environment of its own it is a process, else it is not: see `toolcast`.
        """
        if env is not None:
            return self.run("-m", "toolcast", *words, env=env, cwd=cwd)
        return toolcast(cwd or self.root, *words)

    def generate(self) -> None:
        """Generates in this process, which is quicker, over whatever is there."""
        from toolcast.commands.generate.generate import generate_project

        ended = generate_project(str(self.root), force=True)
        assert ended.code == 0, ended.err


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., Project]:
    """Lays out a project with one toolset `toy` from `{tool: spec}` texts."""

    def make(
        tools: Mapping[str, str],
        *,
        toolset: str = "",
        workspace: str = "",
        handlers: str = "",
        at: str = "project",
    ) -> Project:
        project = Project(tmp_path / at)
        project.write("toolcast.yaml", "version: 1\ntoolsets: [specs/toy]\n")
        with (project.root / "toolcast.yaml").open("a", encoding="utf-8") as stream:
            stream.write(textwrap.dedent(workspace))
        begin = "name: toy\ntitle: Toy\nhandlers: handlers\n"
        project.write("specs/toy/toolset.yaml", begin + textwrap.dedent(toolset))
        for name, spec in tools.items():
            text = f"name: {name}\n" + textwrap.dedent(spec)
            project.write(f"specs/toy/{name}.yaml", text)
        project.write("handlers/__init__.py", "")
        project.write("handlers/toy.py", handlers)
        return project

    return make


@pytest.fixture
def project_copy(tmp_path: Path) -> Project:
    """A copy of this repository's own project, outputs in git's index, to break things in."""
    root = tmp_path / "copy"
    root.mkdir()
    copy_project(root, "generated", "examples")
    for words in (["init", "--quiet"], ["add", "--force", "generated"]):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    return Project(root)


@pytest.fixture(scope="session")
def clinic_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of tests/platform, with what is generated from it in `clinic_tools`."""
    root = tmp_path_factory.mktemp("clinic") / "project"
    leave = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests/platform/project", root, ignore=leave)
    Project(root).generate()
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the project, with a file that nothing may change."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "bashrc").write_text("echo mine\n", encoding="utf-8")
    return folder


@pytest.fixture
def in_time() -> Iterator[None]:
    """Fails a test that waits for what never comes, such as the writer of a pipe."""

    def too_long(*_: object) -> None:
        raise AssertionError("something is waited for")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
