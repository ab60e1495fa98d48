"""Test runs on each installed supported Python: `make test-pythons`, with `ALL=1` all tests.

Interpreters are found on PATH and in pyenv's folder. Each uses a virtual environment
`.venv-3.N`, which later runs reuse.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def find_interpreters() -> dict[str, str]:
    """Return the path of each interpreter that is installed and starts, by version."""
    paths = {version: _find_interpreter(version) for version in VERSIONS}
    return {version: path for version, path in paths.items() if path}


def _find_interpreter(version: str) -> str | None:
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += sorted(_pyenv_root().glob(f"versions/{version}.*/bin"), reverse=True)
    for folder in folders:
        program = folder / f"python{version}"
        # pyenv has shims also for versions that are not selected; these fail to start.
        if program.is_file() and _can_start(program):
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


def _can_start(program: Path) -> bool:
    code = "import sys, venv"
    return subprocess.run([program, "-c", code], capture_output=True).returncode == 0


def main() -> int:
    """Print the result for each version; return 1 if the tests fail on any.

    The arguments are test files and folders; without arguments, `make test` runs.
    """
    results: dict[str, str] = {}
    paths = find_interpreters()
    for version in VERSIONS:
        if version not in paths:
            results[version] = "not installed"
            continue
        print(f"Python {version}", flush=True)
        run = ["make", f"VENV=.venv-{version}", f"PYTHON={paths[version]}"]
        target = (
            ["test-fast", f"FAST={' '.join(sys.argv[1:])}"]
            if sys.argv[1:]
            else ["test"]
        )
        done = subprocess.run([*run, *target], cwd=ROOT)
        results[version] = "failed" if done.returncode else "passed"
    print("\n".join(f"Python {version}: {text}" for version, text in results.items()))
    return 1 if "failed" in results.values() else 0


if __name__ == "__main__":
    sys.exit(main())
