"""Runs tests on each supported Python that is installed: `make test-pythons`, with `ALL=1` all.

Interpreters are looked for on PATH and among pyenv's. Each gets a virtual environment of its
own, `.venv-3.N`, which is kept for the next time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def interpreters() -> dict[str, str]:
    """`{version: program}` of those that are installed and start."""
    found = {version: _interpreter(version) for version in VERSIONS}
    return {version: program for version, program in found.items() if program}


def _interpreter(version: str) -> str | None:
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += sorted(_pyenv_root().glob(f"versions/{version}.*/bin"), reverse=True)
    for folder in folders:
        program = folder / f"python{version}"
        # pyenv's shims are there for versions that are not selected, and then fail.
        if program.is_file() and _starts(program):
            return str(program)
    return None


def _pyenv_root() -> Path:
    if "PYENV_ROOT" in os.environ:
        return Path(os.environ["PYENV_ROOT"])
    if shutil.which("pyenv"):
        done = subprocess.run(["pyenv", "root"], capture_output=True, text=True)
        if done.returncode == 0:
            return Path(done.stdout.strip())
    return Path.home() / ".pyenv"


def _starts(program: Path) -> bool:
    code = "import sys, venv"
    return subprocess.run([program, "-c", code], capture_output=True).returncode == 0


def main() -> int:
    """Prints a line a version; 1 when the tests fail on one of them.

    The arguments are the files and folders of the tests; without any it is `make test`.
    """
    results: dict[str, str] = {}
    found = interpreters()
    for version in VERSIONS:
        if version not in found:
            results[version] = "not installed"
            continue
        print(f"Python {version}", flush=True)
        run = ["make", f"VENV=.venv-{version}", f"PYTHON={found[version]}"]
        part = (
            ["test-fast", f"FAST={' '.join(sys.argv[1:])}"]
            if sys.argv[1:]
            else ["test"]
        )
        done = subprocess.run([*run, *part], cwd=ROOT)
        results[version] = "failed" if done.returncode else "passed"
    print("\n".join(f"Python {version}: {word}" for version, word in results.items()))
    return 1 if "failed" in results.values() else 0


if __name__ == "__main__":
    sys.exit(main())
