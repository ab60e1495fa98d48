"""What the environment decides: where state lives and which workspace acts."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = [
    "bundled_plugins",
    "database",
    "home",
    "plugin_sources",
    "project_root",
    "workspace_id",
]

DEFAULT_WORKSPACE = "ws-director"


def home() -> Path:
    """The folder of the platform's state, private to the user; created when missing.

    `MOLECULE_HOME` names it. Without that it is a folder of the user's in the system's
    folder for temporary files.
    """
    chosen = os.environ.get("MOLECULE_HOME")
    if chosen:
        folder = Path(chosen).absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder
    owner = os.getuid() if hasattr(os, "getuid") else None
    name = "molecule" if owner is None else f"molecule-{owner}"
    folder = Path(tempfile.gettempdir()) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    if owner is not None and (facts.st_uid != owner or facts.st_mode & 0o077):
        raise RuntimeError(
            f"{folder} is not private to this user; set MOLECULE_HOME to one that is"
        )
    return folder


def database() -> Path:
    """The SQLite file that all processes of the platform share."""
    return home() / "molecule.db"


def workspace_id() -> str:
    """The workspace as which this process acts: `MOLECULE_WORKSPACE_ID`."""
    return os.environ.get("MOLECULE_WORKSPACE_ID") or DEFAULT_WORKSPACE


def project_root() -> Path:
    """The folder from which `python -m examples.molecule...` runs."""
    return Path(__file__).resolve().parents[2]


def bundled_plugins() -> Path:
    """The folder of the plugins that come with the platform."""
    return Path(__file__).resolve().parent / "bundled"


def plugin_sources() -> list[Path]:
    """The folders below which plugins may be installed from.

    `MOLECULE_PLUGIN_SOURCES` lists them, separated like `PATH`; without it only the
    bundled plugins can be installed.
    """
    listed = os.environ.get("MOLECULE_PLUGIN_SOURCES")
    if not listed:
        return [bundled_plugins()]
    return [Path(entry).resolve() for entry in listed.split(os.pathsep) if entry]
