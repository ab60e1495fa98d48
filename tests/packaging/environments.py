"""Fresh virtual environments with wheels in them, made without a package index."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

__all__ = ["Environment", "build", "environment", "installed_for"]


def build(source: Path, folder: Path, kind: str = "wheel") -> Path:
    """Builds a distribution of a source folder, as pip and others have it built."""
    before = set(folder.glob("*"))
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (built,) = set(folder.glob("*")) - before
    return built


@dataclass(frozen=True)
class Environment:
    """A virtual environment of its own."""

    root: Path

    @property
    def python(self) -> str:
        return str(self.root / "bin" / "python")

    def run(
        self, *words: str, cwd: Path, given: str = "", expect: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        """Runs its Python without anything that this run of the tests has set."""
        kept = ("HOME", "PATH", "LANG", "TMPDIR")
        done = subprocess.run(
            [self.python, *words],
            cwd=cwd,
            env={name: os.environ[name] for name in kept if name in os.environ},
            input=given,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert expect in (None, done.returncode), done.stdout + done.stderr
        return done


def environment(
    root: Path, wheels: Iterable[Path], requires: Iterable[str]
) -> Environment:
    """An environment with wheels, and what they require taken from the tests' own.

    Args:
        root: where it is made.
        wheels: what pip installs into it.
        requires: requirements, with extras; what they and theirs name is all that can be
            imported besides.
    """
    venv.create(root, with_pip=False, symlinks=True)
    made = Environment(root)
    (packages,) = root.glob("lib/python*/site-packages")
    # Through a link pip would replace what the tests themselves have installed.
    wheels = list(wheels)
    brought = {parse_wheel_filename(wheel.name)[0] for wheel in wheels}
    for one in installed_for(requires):
        if canonicalize_name(one.name) not in brought:
            _link(one, packages)
    paths = [str(wheel) for wheel in wheels]
    if paths:
        pip = [sys.executable, "-m", "pip", "--python", made.python, "install"]
        quiet = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
        subprocess.run([*pip, *quiet, *paths], check=True, capture_output=True)
    return made


def installed_for(requires: Iterable[str]) -> list[Distribution]:
    """The installed distributions that requirements need, and those that these need."""
    found: dict[str, Distribution] = {}
    asked: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in requires]
    while waiting:
        one = waiting.pop()
        name = canonicalize_name(one.name)
        for extra in ("", *one.extras):
            if (name, extra) in asked:
                continue
            asked.add((name, extra))
            there = found.setdefault(name, distribution(name))
            waiting += _requirements(there, extra)
    return list(found.values())


def _requirements(there: Distribution, extra: str) -> Iterator[Requirement]:
    for text in there.requires or ():
        needed = Requirement(text)
        if needed.marker is None or needed.marker.evaluate({"extra": extra}):
            yield needed


def _link(there: Distribution, packages: Path) -> None:
    """Links what a distribution has put beside others into another environment."""
    names = {file.parts[0] for file in there.files or () if file.parts[0] != ".."}
    for name in names - {"__pycache__"}:
        source = Path(str(there.locate_file(name)))
        target = packages / name
        if source.is_dir() and name not in _own_folders(there):
            # Several distributions share it, a namespace package for one.
            target.mkdir(exist_ok=True)
            for inner in source.iterdir():
                if not (target / inner.name).exists():
                    (target / inner.name).symlink_to(inner)
        elif not target.exists():
            target.symlink_to(source)


def _own_folders(there: Distribution) -> set[str]:
    """The folders whose `__init__.py` or metadata is the distribution's own."""
    return {
        file.parts[0]
        for file in there.files or ()
        if len(file.parts) == 2 and file.name in ("__init__.py", "METADATA")
    }
