"""This repository's own project, as far as what is installed goes.

The core is tested without extensions, too. Where one is missing that `toolcast.yaml` lists, the
toolsets that have a field of it are left out: what they are tried for is the extension's then.
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
    "LEFT_OUT",
    "MISSING",
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
EXTENSIONS = tuple(one for one in _WORKSPACE["extensions"] if one not in MISSING)
"""Those that are."""
needs_all = pytest.mark.skipif(
    bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"
)
"""Marks a test of the repository as a whole, which is developed with its extensions."""


def _is_whole(folder: str) -> bool:
    """Whether every field of a toolset is known; one of an extension is called like it."""
    fields = yaml.safe_load((ROOT / folder / "toolset.yaml").read_text("utf-8"))
    return not {*MISSING} & {*fields}


_FOLDERS = [folder for folder in _WORKSPACE["toolsets"] if _is_whole(folder)]
TOOLSETS = tuple(Path(folder).name for folder in _FOLDERS)
"""The toolsets of this repository that need nothing else."""
LEFT_OUT = tuple(
    Path(one).name for one in _WORKSPACE["toolsets"] if one not in _FOLDERS
)
"""Those that need an extension that is missing."""


def copy_project(root: Path, *names: str) -> None:
    """Copies the project into an empty folder: `specs` and these folders beside it."""
    if not MISSING:
        shutil.copy(ROOT / "toolcast.yaml", root)
    else:
        # What says of all toolsets what they have is no document of some of them.
        own = {"version": 1, "toolsets": _FOLDERS, "extensions": list(EXTENSIONS)}
        (root / "toolcast.yaml").write_text(yaml.safe_dump(own), "utf-8")
    ignored = shutil.ignore_patterns("__pycache__", ".*", *LEFT_OUT)
    for name in ("specs", *names):
        shutil.copytree(ROOT / name, root / name, ignore=ignored)


@cache
def _own_copy() -> tempfile.TemporaryDirectory[str]:
    folder = tempfile.TemporaryDirectory(prefix="toolcast-project-")
    copy_project(Path(folder.name), "generated", "examples")
    return folder


def own_project() -> Path:
    """The folder of the project: this repository, or a copy of what needs nothing else."""
    return Path(_own_copy().name) if MISSING else ROOT
