"""What was measured, on which machine and with what; kept as JSON for the page."""

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

__all__ = ["KEPT", "Part", "commit", "keep", "kept", "machine", "versions"]

KEPT = Path(__file__).with_name("measured.json")
_ROOT = Path(__file__).parents[1]
_MEASURED_WITH = ("click", "jinja2", "pyyaml", "jsonschema-rs", "mcp")


@dataclass(frozen=True)
class Part:
    """The results of a part of the benchmarks.

    Attributes:
        rows: one command or server beside another.
        tables: what each server takes by itself, by cell; the first row names the columns.
        wrote: `{command: [files, lines]}` of its output.
        specs: bytes of the specs of a project, by its name.
        versions: of what was measured, by name.
        measured: the day, `YYYY-MM-DD`.
        commit: of Toolcast.
        machine: in a few words.
        load: processes that wanted to run, a minute's mean; the larger of begin and end.
    """

    rows: Sequence[Row]
    tables: Sequence[Sequence[Sequence[str]]] = ()
    wrote: Mapping[str, list[int]] = field(default_factory=dict)
    specs: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    measured: str = ""
    commit: str = ""
    machine: str = ""
    load: float = 0.0


def kept(path: Path) -> dict[str, Part]:
    """Return the parts in a file by name; empty if the file does not exist."""
    if not path.exists():
        return {}
    return {
        name: Part(**{**value, "rows": [Row.from_json(row) for row in value["rows"]]})
        for name, value in json.loads(path.read_text("utf-8")).items()
    }


def keep(name: str, part: Part) -> None:
    """Store a part and replace its previous results."""
    parts = {**kept(KEPT), name: part}
    written = {key: _rounded(asdict(value)) for key, value in parts.items()}
    KEPT.write_text(json.dumps(written, indent=1) + "\n", "utf-8")


def _rounded(value: Any) -> Any:
    """Return the value with numbers rounded to four decimals; more would be noise."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(inner) for inner in value]
    return value


def machine() -> str:
    """Return a short description of cores, memory and system."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return (
        f"{os.cpu_count()} cores, {pages / 2**30:.0f} GiB, {platform.system()}"
        f" {platform.machine()}"
    )


def commit() -> str:
    """Return the current commit, with a plus sign if files differ from it."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=_ROOT, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", "generator", "runtime", "templates")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that dominate a run's time."""
    found = {name: importlib.metadata.version(name) for name in _MEASURED_WITH}
    return {"Python": platform.python_version(), **found}
