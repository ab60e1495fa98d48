"""Installation of the Letta server with PostgreSQL and of Letta Code.

    python letta/tests/real/install.py

The virtual environments (900 and 300 MB) are created once, in the folder
$TOOLCAST_LETTA or toolcast-letta in the user's cache, which can be deleted at any time.
They are not an extra of the project: the server pins old versions of the project's
dependencies, and Letta Code is another program with the same name.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

__all__ = [
    "CODE",
    "SERVER",
    "folder",
    "is_installed",
    "letta_code",
    "packages",
    "python",
]

SERVER = "letta[server,postgres,redis]"
"""The requirement, at the version of pins.txt; the server needs these extras."""

CODE = "letta==0.34.12"
"""Letta Code, a command-line agent with its own Node.js."""

_PINS = Path(__file__).parent / "pins.txt"
# uv resolves the 450 packages in seconds; pip needs minutes, and old versions fail.
_INSTALLER = "uv>=0.9,<1"


# The user's cache, read before the tests set their own.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def folder() -> Path:
    """Return the folder of the installation."""
    return Path(os.environ.get("TOOLCAST_LETTA") or _CACHE / "toolcast-letta")


def python() -> Path:
    """Return the interpreter that has the server's packages."""
    return folder() / "venv" / "bin" / "python"


def letta_code() -> Path:
    """Return the command of Letta Code."""
    return folder() / "code" / "bin" / "letta"


def packages() -> Path:
    """Return the folder of the interpreter's packages."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return folder() / "venv" / "lib" / version / "site-packages"


def is_installed() -> bool:
    """Return whether the folder contains a complete installation of pins.txt."""
    stamp = folder() / "installed"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _compute_stamp()


def _compute_stamp() -> str:
    text = f"{sys.version_info[:2]} {SERVER} {CODE} {_PINS.read_text(encoding='utf-8')}"
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> int:
    """Install missing packages; return 1 if the installation fails or is incomplete."""
    if is_installed():
        return 0
    print(f"Setting up {folder()} (once; about 1.2 GB)", flush=True)
    folder().mkdir(parents=True, exist_ok=True)
    (folder() / "installed").unlink(missing_ok=True)
    pip = [str(python()), "-m", "pip", "install", "--quiet"]
    uv = [str(python()), "-m", "uv", "pip", "install", "--quiet", "--python"]
    code = letta_code().with_name("python")
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder() / "venv")],
        [*pip, "--disable-pip-version-check", _INSTALLER],
        [*uv, str(python()), "--constraint", str(_PINS), SERVER, "pgserver"],
        [sys.executable, "-m", "venv", "--clear", str(folder() / "code")],
        [*uv, str(code), CODE],
    ):
        if subprocess.run(command).returncode:
            print("That failed; nothing is set up.", file=sys.stderr)
            return 1
    if not (packages() / "pgserver" / "pginstall" / "bin" / "initdb").is_file():
        print(f"There is no PostgreSQL in {packages()}", file=sys.stderr)
        return 1
    (folder() / "installed").write_text(_compute_stamp(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
