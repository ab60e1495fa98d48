"""The console commands that a project installs, as its pyproject.toml says."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from ..reading.project_files import ProjectFiles

__all__ = ["PYPROJECT", "console_commands"]

PYPROJECT = "pyproject.toml"
_MOST_BYTES = 1 << 20


def console_commands(files: ProjectFiles) -> Mapping[str, str] | None:
    """What each command runs, by its name, from `[project.scripts]`.

    Returns:
        None where no pyproject.toml is there that can be read: others say what is wrong
        with it.
    """
    try:
        data = files.read(PYPROJECT, _MOST_BYTES + 1)
        value = tomllib.loads(data.decode("utf-8")) if len(data) <= _MOST_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return None
    project = value.get("project")
    scripts = project.get("scripts", {}) if isinstance(project, dict) else None
    if not isinstance(scripts, dict):
        return None
    return {name: str(target) for name, target in scripts.items()}
