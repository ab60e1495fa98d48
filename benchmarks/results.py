"""What was measured, kept as JSON so that the page can be written from it again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from paired import Row

__all__ = ["KEPT", "Part", "keep", "kept"]

KEPT = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Part:
    """The figures of one part of the benchmarks.

    Attributes:
        rows: ratios and sizes.
        text: what a script of its own printed.
        tables: further figures as text, by cell; the first row of each names the columns.
        wrote: `{command: [files, lines]}` of its output.
        stages: `{command: [(stage, share of its time), ...]}`, largest first.
        versions: of what was measured, by name.
        measured: the day, `YYYY-MM-DD`.
        commit: of Toolcast.
        machine: in a few words.
        load: processes that wanted to run, a minute's mean; the larger of begin and end.
    """

    rows: list[Row]
    text: str = ""
    tables: Sequence[Sequence[Sequence[str]]] = ()
    wrote: Mapping[str, list[int]] = field(default_factory=dict)
    stages: Mapping[str, list[tuple[str, float]]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    measured: str = ""
    commit: str = ""
    machine: str = ""
    load: float = 0.0


def kept(path: Path) -> dict[str, Part]:
    """The parts of a file, by name; none when there is no file."""
    if not path.exists():
        return {}
    return {
        name: _part(value)
        for name, value in json.loads(path.read_text("utf-8")).items()
    }


def keep(name: str, part: Part) -> None:
    """Puts a part in the place of what was kept of it before."""
    parts = {**kept(KEPT), name: part}
    written = {key: _shortened(asdict(value)) for key, value in parts.items()}
    KEPT.write_text(json.dumps(written, indent=1, sort_keys=True) + "\n", "utf-8")


def _part(value: Mapping[str, Any]) -> Part:
    rows = [Row.from_json(row) for row in value["rows"]]
    stages = {
        name: [(stage, share) for stage, share in shares]
        for name, shares in value["stages"].items()
    }
    return Part(**{**value, "rows": rows, "stages": stages})


def _shortened(value: Any) -> Any:
    """The same with numbers of four decimals: more would be noise."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: _shortened(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shortened(inner) for inner in value]
    return value
