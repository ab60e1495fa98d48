"""Shared fixtures: projects in temporary folders, caches and test selection."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, settings

from tests.git_command import run_git
from tests.program import toolcast
from tests.project_files import write_files
from tests.repository import copy_project

# A slow machine must not fail a test. A test that sets `suppress_health_check` replaces this
# list, and has to repeat it.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")

# At import, Pydantic looks for plugins in the metadata of every installed package. No test has
# a plugin, and hundreds of child processes import Pydantic.
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"

# nohup and background jobs of a shell ignore SIGINT, and child processes inherit that: tests
# that interrupt a process would wait forever.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return more workers than cores, because many tests wait for child processes.

    Most of the slow tests do.
    """
    cores = os.cpu_count() or 1
    return cores * 2 if "slow or" in config.getoption("markexpr") else cores + 1


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Disable garbage collection during collection, which creates thousands of objects."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        # With the default thresholds, parsing the sources takes three times as long.
        gc.set_threshold(50_000, 20, 20)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all but `rows(count)` evenly spread cases of a parametrized test as slow."""
    cases_by_test: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("rows") and not item.get_closest_marker("slow"):
            cases_by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in cases_by_test.values():
        mark = cases[0].get_closest_marker("rows")
        assert mark is not None
        selected = {len(cases) * k // mark.args[0] for k in range(mark.args[0])}
        for index, case in enumerate(cases):
            if index not in selected:
                case.add_marker("slow")


ROOT = Path(__file__).parents[1]
CACHES = shutil.ignore_patterns("__pycache__", ".*")


@pytest.fixture(scope="session", autouse=True)
def _use_temporary_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Set XDG_CACHE_HOME to a temporary folder."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def _use_temporary_ledger(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Set the ledger file and XDG_STATE_HOME to temporary paths, also for child processes."""
    file = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    os.environ["KIRISHIMA_LEDGER"] = str(file)
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def mypy_cache(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a folder for mypy's `--cache-dir`, shared by the checks of a session.

    It starts as a copy of the repository's mypy cache: without it, a check of a small project
    spends most of its time on the libraries.
    """
    folder = tmp_path_factory.mktemp("mypy")
    version = "{}.{}".format(*sys.version_info)
    if (known := ROOT / ".mypy_cache" / version).is_dir():
        shutil.copytree(known, folder / version)
    return str(folder)


@dataclass(frozen=True)
class Project:
    """A project folder, with methods to edit it and to run commands in it."""

    root: Path

    def write(self, path: str, text: str) -> Path:
        """Write a dedented text to a file."""
        return write_files(self.root, {path: text}) / path

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that occurs exactly once in a file."""
        target = self.root / path
        text = target.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} contains {text.count(old)} times: {old}"
        target.write_text(text.replace(old, new), encoding="utf-8")

    def run(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        input: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments in the project; `input` is its stdin."""
        return subprocess.run(
            [sys.executable, *args],
            cwd=cwd or self.root,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", **(env or {})},
            input=input,
            stdin=None if input is not None else subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )

    def toolcast(
        self,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run the `toolcast` command in the project.

        It runs as a child process if `env` is set, and in this process otherwise.
        """
        if env is not None:
            return self.run("-m", "toolcast", *args, env=env, cwd=cwd)
        return toolcast(cwd or self.root, *args)

    def generate(self) -> None:
        """Generate in this process, which is faster, and overwrite existing files."""
        from toolcast.commands.generate.generate import generate_project

        result = generate_project(str(self.root), force=True)
        assert result.code == 0, result.err


@pytest.fixture
def make_project(tmp_path: Path) -> Callable[..., Project]:
    """Return a function that writes a project with a toolset `toy` from `{tool: spec}`."""

    def make(
        tools: Mapping[str, str],
        *,
        toolset: str = "",
        workspace: str = "",
        handlers: str = "",
        at: str = "project",
    ) -> Project:
        settings = "version: 1\ntoolsets: [specs/toy]\n" + dedent(workspace)
        header = "name: toy\ntitle: Toy\nhandlers: handlers\n"
        files = {"toolcast.yaml": settings, "handlers/toy.py": handlers}
        files["handlers/__init__.py"] = ""
        files["specs/toy/toolset.yaml"] = header + dedent(toolset)
        for name, spec in tools.items():
            files[f"specs/toy/{name}.yaml"] = f"name: {name}\n{dedent(spec)}"
        return Project(write_files(tmp_path / at, files))

    return make


@pytest.fixture
def project_copy(tmp_path: Path) -> Project:
    """Copy this repository's project; its generated files are in a git index."""
    root = tmp_path / "copy"
    root.mkdir()
    copy_project(root, "generated", "examples")
    for args in (["init", "--quiet"], ["add", "--force", "generated"]):
        run_git(root, *args)
    return Project(root)


@pytest.fixture(scope="session")
def clinic_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy tests/platform/project and generate its package `clinic_tools`."""
    root = tmp_path_factory.mktemp("clinic") / "project"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests/platform/project", root, ignore=ignored)
    Project(root).generate()
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Create a folder next to the project, with a file that no command may change."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "bashrc").write_text("echo mine\n", encoding="utf-8")
    return folder


@pytest.fixture
def time_limit() -> Iterator[None]:
    """Fail the test after 20 s, for example if it waits for the writer of a pipe."""

    def fail(*_: object) -> None:
        raise AssertionError("the test waited for more than 20 s")

    previous = signal.signal(signal.SIGALRM, fail)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)
