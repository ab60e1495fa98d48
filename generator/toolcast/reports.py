"""The formats of findings; untrusted text is escaped before it is printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from .encoders.layout import text_width
from .findings import Finding, Severity
from .reading.characters import is_plain

__all__ = ["FORMATS", "printable", "summary"]

_EXPLAIN_COLUMN = 60
_COLOURS = {Severity.ERROR: "31", Severity.WARNING: "33", Severity.NOTE: "36"}


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


def _text(findings: Sequence[Finding], *, colour: bool = False) -> str:
    return "".join(_one(finding, colour) for finding in findings)


def _one(finding: Finding, colour: bool) -> str:
    place = finding.place
    where = printable(place.file)
    if place.line:
        where += f":{place.line}:{place.column}"
    word = finding.severity.word
    if colour:
        word = f"\x1b[{_COLOURS[finding.severity]}m{word}\x1b[0m"
    text = f"{where}: {word}: {finding.rule}: {printable(finding.message)}\n"
    if place.line and finding.source_line.strip():
        text += _excerpt(finding)
    help_ = f"  help: {printable(finding.help)}" if finding.help else ""
    explain = f"toolcast explain {finding.rule}"
    return f"{text}{help_.ljust(_EXPLAIN_COLUMN)}  {explain}\n"


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


def _json(findings: Sequence[Finding], *, colour: bool = False) -> str:
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
        for finding in findings
    ]
    return json.dumps({"findings": listed}, ensure_ascii=True, indent=2) + "\n"


def _github(findings: Sequence[Finding], *, colour: bool = False) -> str:
    """Workflow commands.

    Source: GitHub Docs, "Workflow commands for GitHub Actions".
    """
    words = {
        Severity.ERROR: "error",
        Severity.WARNING: "warning",
        Severity.NOTE: "notice",
    }
    rows = []
    for finding in findings:
        place = finding.place
        properties = [f"file={_property(place.file)}"]
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
"""`(findings, colour=) -> text`, by the word of `--format`."""
