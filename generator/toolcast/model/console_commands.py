"""The console commands that a project installs, as its pyproject.toml says."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping

from toolcast_runtime.files.regular_file import NoRegularFile, read_regular

__all__ = ["PYPROJECT", "console_commands"]

PYPROJECT = "pyproject.toml"
_MOST_BYTES = 1 << 20


def console_commands(root: str) -> Mapping[str, str] | None:
    """What each command runs, by its name, from `[project.scripts]`.

    Args:
        root: the folder of toolcast.yaml.

    Returns:
        None where no pyproject.toml is there that can be read: others say what is wrong
        with it.
    """
    try:
        data = read_regular(
            os.path.join(root, PYPROJECT), _MOST_BYTES + 1, follow=False
        )
        value = tomllib.loads(data.decode("utf-8")) if len(data) <= _MOST_BYTES else {}
    except (OSError, NoRegularFile, ValueError, RecursionError):
        return None
    project = value.get("project")
    scripts = project.get("scripts", {}) if isinstance(project, dict) else None
    if not isinstance(scripts, dict):
        return None
    return {name: str(target) for name, target in scripts.items()}
