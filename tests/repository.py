"""This repository's project, without the toolsets of extensions that are not installed.

The core is also tested without its extensions. If an extension in `toolcast.yaml` is missing,
toolsets with a field of that extension are omitted.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolcast.extensions import list_missing

__all__ = [
    "EXTENSIONS",
    "MISSING",
    "OMITTED_TOOLSETS",
    "ROOT",
    "TOOLSETS",
    "copy_project",
    "needs_all",
    "own_project",
]

ROOT = Path(__file__).parents[1]
_WORKSPACE: dict[str, Any] = yaml.safe_load((ROOT / "toolcast.yaml").read_text("utf-8"))
MISSING = tuple(list_missing(_WORKSPACE["extensions"]))
"""The extensions of this repository that are not installed."""
EXTENSIONS = tuple(name for name in _WORKSPACE["extensions"] if name not in MISSING)
"""The extensions of this repository that are installed."""
needs_all = pytest.mark.skipif(
    bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"
)
"""Skips a test of the whole repository if an extension is not installed."""


def _is_complete(folder: str) -> bool:
    """Return whether a toolset has no field of a missing extension (named like it)."""
    fields = yaml.safe_load((ROOT / folder / "toolset.yaml").read_text("utf-8"))
    return not {*MISSING} & {*fields}


_FOLDERS = [folder for folder in _WORKSPACE["toolsets"] if _is_complete(folder)]
TOOLSETS = tuple(Path(folder).name for folder in _FOLDERS)
"""The toolsets that need no missing extension."""
OMITTED_TOOLSETS = tuple(
    Path(folder).name for folder in _WORKSPACE["toolsets"] if folder not in _FOLDERS
)
"""The toolsets that need a missing extension."""


def copy_project(root: Path, *names: str) -> None:
    """Copy `toolcast.yaml`, `specs` and the named folders into an empty folder."""
    if not MISSING:
        shutil.copy(ROOT / "toolcast.yaml", root)
    else:
        # Other workspace fields may describe toolsets that are omitted.
        reduced = {"version": 1, "toolsets": _FOLDERS, "extensions": list(EXTENSIONS)}
        (root / "toolcast.yaml").write_text(yaml.safe_dump(reduced), "utf-8")
    ignored = shutil.ignore_patterns("__pycache__", ".*", *OMITTED_TOOLSETS)
    for name in ("specs", *names):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)


@cache
def _copy_installed_part() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="toolcast-project-")
    copy_project(Path(folder.name), "generated", "examples")
    return folder


def own_project() -> Path:
    """Return this repository, or a copy without toolsets of missing extensions."""
    return Path(_copy_installed_part().name) if MISSING else ROOT
