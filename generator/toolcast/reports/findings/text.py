"""Findings as people read them in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ...encoders.layout import text_width
from ...findings import Finding, Place, Severity, grouped, to_show
from ..escaping import log_line, printable
from .formats import About

__all__ = ["write"]

_EXPLAIN_COLUMN = 60
_NAMED = 2
_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


def write(findings: Sequence[Finding], about: About) -> str:
    """A paragraph each, those that are alike once."""
    shown = findings if about.every else grouped(findings)
    return "".join(_one(finding, about.colour) for finding in to_show(shown))


def _one(finding: Finding, colour: bool) -> str:
    place, where = finding.place, _where(finding.place)
    word = finding.severity.word
    if colour:
        word = f"\x1b[{_COLOURS[finding.severity]}m{word}\x1b[0m"
    text = f"{where}: {word}: {finding.rule}: {printable(finding.message)}\n"
    if place.line and finding.source_line.strip():
        text += _excerpt(finding)
    help_ = f"  help: {printable(finding.help)}" if finding.help else ""
    explain = f"toolcast explain {finding.rule}"
    text += f"{help_.ljust(_EXPLAIN_COLUMN)}  {explain}\n"
    return text + _alike(finding.alike) if finding.alike else text


def _where(place: Place) -> str:
    line = f":{place.line}:{place.column}" if place.line else ""
    return log_line(f"{printable(place.file)}{line}")


def _alike(places: Sequence[Place]) -> str:
    named = ", ".join(map(_where, places[:_NAMED]))
    return (
        f"  and {len(places):,} more like it, the next at {named};"
        " `toolcast check --all` shows each\n"
    )


def _excerpt(finding: Finding) -> str:
    """The source line with carets below the place, cut to a screen's width around it."""
    place, line = finding.place, finding.source_line
    start = place.column - 1
    end = max(place.end_column - 1, start + 1)
    first = max(0, start - 40) if len(line) > 100 else 0
    last = min(len(line), first + 100)
    before = printable(line[first:start])
    marked = printable(line[start : min(end, last)])
    after = printable(line[min(end, last) : last])
    number = str(place.line)
    carets = "^" * max(1, text_width(marked))
    return (
        f"  {number} | {before}{marked}{after}\n"
        f"  {' ' * len(number)} | {' ' * text_width(before)}{carets}\n"
    )
