"""What the figures were measured on and with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path

__all__ = ["commit", "machine", "versions"]

_MEASURED_WITH = ("black", "click", "jinja2", "pyyaml", "jsonschema-rs")
_ROOT = Path(__file__).parents[1]


def machine() -> str:
    """Cores, memory and system in a few words."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return (
        f"{os.cpu_count()} cores, {pages / 2**30:.0f} GiB, {platform.system()}"
        f" {platform.machine()}"
    )


def commit() -> str:
    """The commit that is checked out, with a plus sign where files differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=_ROOT, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", "generator", "templates")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def versions() -> dict[str, str]:
    """Of Python and of the libraries that a run spends its time in."""
    found = {name: importlib.metadata.version(name) for name in _MEASURED_WITH}
    return {"Python": platform.python_version(), **found}
