"""Findings: the problems that every stage returns and only reports print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum
from itertools import groupby
from typing import NamedTuple

MAX_FINDINGS_SHOWN = 100
"""Findings of one file that are printed; of the others, only their number."""
MAX_SIMILAR_FINDINGS = 5
"""Findings with one message about different names that are printed one by one."""
_MAX_MESSAGE_CHARACTERS = 600
"""Characters of a finding's message, or of its help."""
_NAMES = re.compile(r"`[^`]*`|[0-9][0-9,.]*")


class Severity(IntEnum):
    """How bad a finding is; higher is worse."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        """The lower-case word that reports and options use."""
        return self.name.lower()


class Location(NamedTuple):
    """Where a finding points.

    Attributes:
        file: path relative to the workspace's root, with forward slashes.
        line: 1-based; 0 when the finding is about the file as a whole.
        column: 1-based, in characters.
        end_column: 1-based and exclusive, on the same line.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        """`file:line:column`, or the file alone."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem.

    Attributes:
        rule: the rule's id, `family/kebab-name`.
        severity: how bad it is.
        place: where it is.
        message: what is wrong, lower case, names in backticks.
        help: what to do; empty when the message says it already.
        source_line: the text of the line at the place, for the excerpt under the message.
        alike: the places of further findings for which this one stands; see `grouped`.
    """

    rule: str
    severity: Severity
    location: Location
    message: str
    help: str = ""
    source_line: str = field(default="", compare=False)
    alike: tuple[Location, ...] = field(default=(), compare=False)


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file, line, column, rule and message, each one once."""
    unique = dict.fromkeys(findings)
    return sorted(
        unique,
        key=lambda f: (
            f.location.file,
            f.location.line,
            f.location.column,
            f.rule,
            f.message,
        ),
    )


def group_similar(findings: Iterable[Finding]) -> list[Finding]:
    """Findings in order, where one stands for all that say the same of other names.

    A few alike stay as they are. What is alike has the rule, the severity, and the words of
    message and help in common; names in backticks and numbers may differ.
    """
    kinds: dict[object, list[Finding]] = {}
    for finding in findings:
        words = (_NAMES.sub("`", text) for text in (finding.message, finding.help))
        kinds.setdefault((finding.rule, finding.severity, *words), []).append(finding)
    shown: list[Finding] = []
    for first, *others in kinds.values():
        if len(others) < MAX_SIMILAR_FINDINGS:
            shown += [first, *others]
        else:
            places = tuple(other.location for other in others)
            shown.append(replace(first, alike=places))
    return sort_findings(shown)


def limit_findings(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that are printed, of findings in order.

    A file with many problems has its first ones, and one that counts the others; long texts
    of specs within a message are shortened.
    """
    return [
        finding
        for _, group in groupby(findings, key=lambda f: f.location.file)
        for finding in _most([_readable(finding) for finding in group])
    ]


def _readable(finding: Finding) -> Finding:
    if (
        len(finding.message) <= _MAX_MESSAGE_CHARACTERS
        and len(finding.help) <= _MAX_MESSAGE_CHARACTERS
    ):
        return finding
    return replace(finding, message=_cut(finding.message), help=_cut(finding.help))


def _cut(text: str) -> str:
    if len(text) <= _MAX_MESSAGE_CHARACTERS:
        return text
    half = _MAX_MESSAGE_CHARACTERS // 2
    return f"{text[:half]} ... {text[-half:]}"


def _most(findings: list[Finding]) -> list[Finding]:
    shown, others = findings[:MAX_FINDINGS_SHOWN], findings[MAX_FINDINGS_SHOWN:]
    if not others:
        return shown
    worst = max(finding.severity for finding in others)
    place = Location(findings[0].location.file)
    message = f"{len(others):,} or more further findings are not shown"
    return [*shown, Finding("spec/many-findings", worst, place, message)]


def has_errors(findings: Iterable[Finding]) -> bool:
    """True when one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
