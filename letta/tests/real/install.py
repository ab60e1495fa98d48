"""Installs the Letta server with a PostgreSQL, and Letta Code, once, outside of the repository.

    python letta/tests/real/install.py

They come from the package index into virtual environments of about 900 and 300 MB, in the
folder $TOOLCAST_LETTA or toolcast-letta in the user's cache, which may be deleted at any
time. They are not an extra of the project: the server pins old versions of what the project
uses, and Letta Code is another program under the same name.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["CODE", "SERVER", "folder", "installed", "letta_code", "packages", "python"]

SERVER = "letta[server,postgres,redis]"
"""What is installed, at the version of pins.txt; without the extras it does not start."""

CODE = "letta==0.34.12"
"""Letta Code, a command-line agent with its own Node.js."""

_PINS = Path(__file__).parent / "pins.txt"
# It resolves 450 packages in seconds; pip takes minutes, and old pips fail.
_INSTALLER = "uv>=0.9,<1"


# The user's own cache, read before tests get one of theirs.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def folder() -> Path:
    """Where everything is installed."""
    return Path(os.environ.get("TOOLCAST_LETTA") or _CACHE / "toolcast-letta")


def python() -> Path:
    """The interpreter that has the server's packages."""
    return folder() / "venv" / "bin" / "python"


def letta_code() -> Path:
    """The command of Letta Code."""
    return folder() / "code" / "bin" / "letta"


def packages() -> Path:
    """Where the interpreter's packages are."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return folder() / "venv" / "lib" / version / "site-packages"


def installed() -> bool:
    """Whether the folder holds what pins.txt asks for, whole."""
    stamp = folder() / "installed"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == _wanted()


def _wanted() -> str:
    text = f"{sys.version_info[:2]} {SERVER} {CODE} {_PINS.read_text(encoding='utf-8')}"
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> int:
    """Installs what is missing; 1 when the index cannot be reached or the result is broken."""
    if installed():
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
    (folder() / "installed").write_text(_wanted(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
