"""Project metadata in `pyproject.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..findings import Location
from ..parsing.project_files import ProjectFiles
from ..parsing.tree import get_span

PYPROJECT = "pyproject.toml"
_MAX_FILE_BYTES = 1 << 20
"""Maximum size of pyproject.toml; a larger file is treated as empty."""
_PROJECT_TABLE = r"(?ms)^(\[project\])"


class PythonProject(NamedTuple):
    """Contents of `pyproject.toml`.

    Attributes:
        table: the table `[project]`, or None if there is no such table.
        text: the text of the file.
        build_system: the table `[build-system]`; empty if there is no such table.
    """

    table: Mapping[str, Any] | None
    text: str = ""
    build_system: Mapping[str, Any] = MappingProxyType({})

    @property
    def commands(self) -> Mapping[str, str] | None:
        """The entries `module:function` of `[project.scripts]`, by command name.

        None without a table `[project]`, or if `scripts` is not a table.
        """
        scripts = None if self.table is None else self.table.get("scripts", {})
        if not isinstance(scripts, dict):
            return None
        return {name: str(target) for name, target in scripts.items()}

    def get_text(self, key: str) -> str:
        """Return a string of `[project]` on one line; empty if it is not a string."""
        value = (self.table or {}).get(key)
        return " ".join(value.split()) if isinstance(value, str) else ""

    def get_texts(self, key: str) -> list[str]:
        """Return the strings of an array in `[project]`; empty if it is not an array.

        Items that are not strings are ignored.
        """
        value = (self.table or {}).get(key)
        items = value if isinstance(value, list) else []
        return [item for item in items if isinstance(item, str)]

    def locate(self, key: str) -> tuple[Location, str]:
        """Return the location of a key in `[project]`, and the text of its line.

        Without the key, the location is that of the table. Without the table, the location is
        the file without a position, and the text is empty.
        """
        # tomllib provides no positions, so search for the key at the start of a line.
        key_match = re.search(rf"{_PROJECT_TABLE}(?:(?!^\[).)*?^({key})\b", self.text)
        match = key_match or re.search(_PROJECT_TABLE, self.text)
        if match is None:
            return Location(PYPROJECT), ""
        span, line = get_span(self.text, *match.span(match.lastindex or 0))
        return Location(PYPROJECT, *span), line


def read_python_project(files: ProjectFiles) -> PythonProject | None:
    """Return the contents of `pyproject.toml`, or None if it is missing or invalid.

    An invalid file is not reported as a finding, since Python's packaging tools report it.
    """
    try:
        data = files.read(PYPROJECT, _MAX_FILE_BYTES + 1)
        text = data.decode("utf-8") if len(data) <= _MAX_FILE_BYTES else ""
        value = tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return None
    project, system = value.get("project"), value.get("build-system")
    return PythonProject(
        project if isinstance(project, dict) else None,
        text,
        system if isinstance(system, dict) else {},
    )
