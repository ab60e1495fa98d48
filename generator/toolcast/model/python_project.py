"""What pyproject.toml says of a project: read once, as a value of the workspace."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..findings import Location
from ..parsing.project_files import ProjectFiles
from ..parsing.tree import get_span

PYPROJECT = "pyproject.toml"
_MAX_FILE_BYTES = 1 << 20
"""Size of pyproject.toml; a larger one is treated as empty."""
_TABLE = r"(?ms)^(\[project\])"


class PythonProject(NamedTuple):
    """The table `[project]`, None where there is no such table, and the file's text."""

    table: Mapping[str, Any] | None
    text: str = ""

    @property
    def commands(self) -> Mapping[str, str] | None:
        """What each console command runs, by its name; None where nobody can tell."""
        scripts = None if self.table is None else self.table.get("scripts", {})
        if not isinstance(scripts, dict):
            return None
        return {name: str(target) for name, target in scripts.items()}

    def get_text(self, key: str) -> str:
        """A text of the table, on one line; empty where it has none."""
        value = (self.table or {}).get(key)
        return " ".join(value.split()) if isinstance(value, str) else ""

    def get_texts(self, key: str) -> list[str]:
        """The texts in a list of the table."""
        value = (self.table or {}).get(key)
        listed = value if isinstance(value, list) else []
        return [one for one in listed if isinstance(one, str)]

    def locate(self, key: str) -> tuple[Location, str]:
        """The place of a key, else that of the table or the file, and the line there.

        TOML's reader gives no positions: the key is looked for at the begin of a line.
        """
        named = re.search(rf"{_TABLE}(?:(?!^\[).)*?^({key})\b", self.text)
        found = named or re.search(_TABLE, self.text)
        if found is None:
            return Location(PYPROJECT), ""
        span, line = get_span(self.text, *found.span(found.lastindex or 0))
        return Location(PYPROJECT, *span), line


def read_python_project(files: ProjectFiles) -> PythonProject | None:
    """What pyproject.toml says; None where it is not there, or others say what is wrong."""
    try:
        data = files.read(PYPROJECT, _MAX_FILE_BYTES + 1)
        text = data.decode("utf-8") if len(data) <= _MAX_FILE_BYTES else ""
        value = tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    project = value.get("project")
    return PythonProject(project if isinstance(project, dict) else None, text)
