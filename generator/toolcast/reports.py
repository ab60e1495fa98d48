"""The formats of findings; untrusted text is escaped before it is printed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .encoders.layout import text_width
from .findings import Finding, Place, Severity, grouped, to_show
from .git.repository import path_in_repository
from .reading.characters import is_plain

__all__ = ["FORMATS", "UNTOLD", "About", "printable", "summary"]

_EXPLAIN_COLUMN = 60
_NAMED = 2
_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


class About(NamedTuple):
    """What findings are about, and how much of them is printed.

    Attributes:
        root: the project's folder; None when it does not matter.
        tools: how many tools were read.
        outputs: how many files their specs give.
        every: prints also as text each of those that are alike.
    """

    root: str | None = None
    tools: int = 0
    outputs: int = 0
    every: bool = False


UNTOLD = About()
"""Nothing about findings beyond what stands in them."""


def printable(text: str) -> str:
    """Text that cannot steer a terminal: what is not seen becomes an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c == " " or is_plain(c) else c.encode("unicode_escape").decode()
        for c in text
    )


def summary(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`; empty when there are none."""
    counts = []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        number = sum(finding.severity is severity for finding in findings)
        if number:
            counts.append(f"{number} {severity.word}{'s' if number > 1 else ''}")
    return ", ".join(counts)


def _text(
    findings: Sequence[Finding], about: About = UNTOLD, *, colour: bool = False
) -> str:
    shown = findings if about.every else grouped(findings)
    return "".join(_one(finding, colour) for finding in to_show(shown))


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
    return f"{printable(place.file)}{line}"


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


def _json(
    findings: Sequence[Finding], about: About = UNTOLD, *, colour: bool = False
) -> str:
    severities = Counter(finding.severity.word for finding in findings)
    counts = {
        "tools": about.tools,
        "outputs": about.outputs,
        "severities": {word: severities[word] for word in ("error", "warning", "note")},
        "rules": dict(sorted(Counter(f.rule for f in findings).items())),
        "files": dict(sorted(Counter(f.place.file for f in findings).items())),
    }
    listed = [
        {
            "rule": finding.rule,
            "severity": finding.severity.word,
            "file": finding.place.file,
            "line": finding.place.line,
            "column": finding.place.column,
            "end_column": finding.place.end_column,
            "message": finding.message,
            "help": finding.help,
        }
        for finding in to_show(findings)
    ]
    value = {"summary": counts, "findings": listed}
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _github(
    findings: Sequence[Finding], about: About = UNTOLD, *, colour: bool = False
) -> str:
    """Workflow commands; GitHub looks for the files below the repository's own folder.

    Source: GitHub Docs, "Workflow commands for GitHub Actions".
    """
    words = {
        Severity.ERROR: "error",
        Severity.WARNING: "warning",
        Severity.NOTE: "notice",
    }
    above = path_in_repository(about.root) if about.root is not None else ""
    rows = []
    for finding in to_show(findings):
        place = finding.place
        properties = [f"file={_property(above + place.file)}"]
        if place.line:
            properties += [f"line={place.line}", f"col={place.column}"]
            properties += [f"endColumn={place.end_column}"]
        properties.append(f"title={_property(finding.rule)}")
        message = printable(finding.message)
        if finding.help:
            message += f" ({printable(finding.help)})"
        escaped = message.replace("%", "%25")
        rows.append(f"::{words[finding.severity]} {','.join(properties)}::{escaped}\n")
    return "".join(rows)


def _property(text: str) -> str:
    escaped = printable(text).replace("%", "%25")
    return escaped.replace(":", "%3A").replace(",", "%2C")


FORMATS: dict[str, Callable[..., str]] = {
    "text": _text,
    "json": _json,
    "github": _github,
}
"""`(findings, about, colour=) -> text`, by the word of `--format`."""
