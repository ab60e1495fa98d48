"""Virtual environments with given wheels, created without a package index."""

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

__all__ = ["Environment", "build", "find_distributions", "make_environment"]


def build(source: Path, folder: Path, kind: str = "wheel") -> Path:
    """Build a wheel or source archive of a folder with hatchling, as pip does."""
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
    """A separate virtual environment."""

    root: Path

    @property
    def python(self) -> str:
        return str(self.root / "bin" / "python")

    def run(
        self, *args: str, cwd: Path, stdin: str = "", expect: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        """Run its Python with only the basic variables of the test process."""
        inherited = ("HOME", "PATH", "LANG", "TMPDIR")
        result = subprocess.run(
            [self.python, *args],
            cwd=cwd,
            env={name: os.environ[name] for name in inherited if name in os.environ},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert expect in (None, result.returncode), result.stdout + result.stderr
        return result


def make_environment(
    root: Path, wheels: Iterable[Path], requires: Iterable[str]
) -> Environment:
    """Create an environment with wheels and links to installed dependencies.

    Args:
        root: Folder of the environment.
        wheels: Wheels that pip installs.
        requires: Requirements, with extras. Only the wheels and the distributions that these
            requirements need, directly or indirectly, can be imported.
    """
    venv.create(root, with_pip=False, symlinks=True)
    environment = Environment(root)
    (packages,) = root.glob("lib/python*/site-packages")
    # pip would follow a link and replace the package that the tests import.
    wheels = list(wheels)
    wheel_names = {parse_wheel_filename(wheel.name)[0] for wheel in wheels}
    for dependency in find_distributions(requires):
        if canonicalize_name(dependency.name) not in wheel_names:
            _link(dependency, packages)
    paths = [str(wheel) for wheel in wheels]
    if paths:
        pip = [sys.executable, "-m", "pip", "--python", environment.python, "install"]
        quiet = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
        subprocess.run([*pip, *quiet, *paths], check=True, capture_output=True)
    return environment


def find_distributions(requires: Iterable[str]) -> list[Distribution]:
    """Return the installed distributions that requirements need, also indirectly."""
    found: dict[str, Distribution] = {}
    visited: set[tuple[str, str]] = set()
    pending = [Requirement(text) for text in requires]
    while pending:
        requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in visited:
                continue
            visited.add((name, extra))
            installed = found.setdefault(name, distribution(name))
            pending += _list_requirements(installed, extra)
    return list(found.values())


def _list_requirements(installed: Distribution, extra: str) -> Iterator[Requirement]:
    for text in installed.requires or ():
        dependency = Requirement(text)
        marker = dependency.marker
        if marker is None or marker.evaluate({"extra": extra}):
            yield dependency


def _link(installed: Distribution, packages: Path) -> None:
    """Link the files of a distribution into another environment."""
    names = {file.parts[0] for file in installed.files or () if file.parts[0] != ".."}
    for name in names - {"__pycache__"}:
        source = Path(str(installed.locate_file(name)))
        target = packages / name
        if source.is_dir() and name not in _list_own_folders(installed):
            # Several distributions can share a folder, such as a namespace package.
            target.mkdir(exist_ok=True)
            for entry in source.iterdir():
                if not (target / entry.name).exists():
                    (target / entry.name).symlink_to(entry)
        elif not target.exists():
            target.symlink_to(source)


def _list_own_folders(installed: Distribution) -> set[str]:
    """Return the folders whose `__init__.py` or metadata the distribution contains."""
    return {
        file.parts[0]
        for file in installed.files or ()
        if len(file.parts) == 2 and file.name in ("__init__.py", "METADATA")
    }
