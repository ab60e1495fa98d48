"""Settings from environment variables, and the paths of the platform."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

__all__ = [
    "get_bundled_plugins",
    "get_database_path",
    "get_home",
    "list_plugin_sources",
    "get_project_root",
    "get_workspace_id",
]

DEFAULT_WORKSPACE = "ws-director"


def get_home() -> Path:
    """Return the platform's state folder, and create it if it does not exist.

    `MOLECULE_HOME` sets the folder. The default is a folder below the system's
    temporary folder that only the user can access.

    Raises:
        RuntimeError: other users can access the default folder.
    """
    configured = os.environ.get("MOLECULE_HOME")
    if configured:
        folder = Path(configured).absolute()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder
    owner = os.getuid() if hasattr(os, "getuid") else None
    name = "molecule" if owner is None else f"molecule-{owner}"
    folder = Path(tempfile.gettempdir()) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    if owner is not None and (status.st_uid != owner or status.st_mode & 0o077):
        raise RuntimeError(
            f"{folder} is not private to this user; set MOLECULE_HOME to a private folder"
        )
    return folder


def get_database_path() -> Path:
    """Return the path of the SQLite file that all processes of the platform share."""
    return get_home() / "molecule.db"


def get_workspace_id() -> str:
    """Return the id of this process's workspace, from `MOLECULE_WORKSPACE_ID`."""
    return os.environ.get("MOLECULE_WORKSPACE_ID") or DEFAULT_WORKSPACE


def get_project_root() -> Path:
    """Return the folder from which `python -m examples.molecule...` runs."""
    return Path(__file__).resolve().parents[2]


def get_bundled_plugins() -> Path:
    """Return the folder of the plugins that are part of the platform."""
    return Path(__file__).resolve().parent / "bundled"


def list_plugin_sources() -> list[Path]:
    """Return the folders whose plugins can be installed.

    `MOLECULE_PLUGIN_SOURCES` lists them, separated like the entries of `PATH`. The
    default is the folder of the bundled plugins.
    """
    sources = os.environ.get("MOLECULE_PLUGIN_SOURCES")
    if not sources:
        return [get_bundled_plugins()]
    return [Path(entry).resolve() for entry in sources.split(os.pathsep) if entry]
