"""Measured results with their machine and versions, saved as JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from paired import Row

MEASURED_FILE = Path(__file__).with_name("measured.json")
_ROOT = Path(__file__).parents[1]
_LIBRARIES = ("click", "jinja2", "pyyaml", "jsonschema-rs", "mcp")


@dataclass(frozen=True)
class Part:
    """The results of a part of the benchmarks.

    Attributes:
        rows: comparisons of commands or servers.
        tables: absolute figures of each server, as cells; the first row is the header.
        outputs: `{command: [files, lines]}` of the generated output.
        specs: total bytes of the specs, by project name.
        versions: measured versions, by package name.
        measured: date as `YYYY-MM-DD`.
        commit: commit of Toolcast.
        machine: short description.
        load: the larger one-minute load average of start and end.
    """

    rows: Sequence[Row]
    tables: Sequence[Sequence[Sequence[str]]] = ()
    outputs: Mapping[str, list[int]] = field(default_factory=dict)
    specs: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    measured: str = ""
    commit: str = ""
    machine: str = ""
    load: float = 0.0


def load_parts(path: Path) -> dict[str, Part]:
    """Load the parts of a file, by name; an empty dict if the file does not exist."""
    if not path.exists():
        return {}
    return {
        name: Part(**{**value, "rows": [Row.from_json(row) for row in value["rows"]]})
        for name, value in json.loads(path.read_text("utf-8")).items()
    }


def save_part(name: str, part: Part) -> None:
    """Save a part; it replaces the previous results of the same name."""
    parts = {**load_parts(MEASURED_FILE), name: part}
    data = {key: _round_floats(asdict(value)) for key, value in parts.items()}
    MEASURED_FILE.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


def _round_floats(value: Any) -> Any:
    """Round all floats to four decimals; further digits are noise."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _round_floats(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_round_floats(item) for item in value]
    return value


def describe_machine() -> str:
    """Return the number of cores, the memory and the operating system."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return (
        f"{os.cpu_count()} cores, {pages / 2**30:.0f} GiB, {platform.system()}"
        f" {platform.machine()}"
    )


def get_commit() -> str:
    """Return the checked-out commit, with `+` if source files differ from it."""

    def git(*arguments: str) -> str:
        result = subprocess.run(
            ["git", *arguments], cwd=_ROOT, check=True, capture_output=True, text=True
        )
        return result.stdout.strip()

    changed = git("status", "--porcelain", "--", "generator", "runtime", "templates")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def get_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that dominate the run time."""
    libraries = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    return {"Python": platform.python_version(), **libraries}
