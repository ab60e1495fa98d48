"""Findings: problems that all stages return, and that only reports print."""

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
    """The severity of a finding; higher values are worse."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The lower-case name that reports and options use."""
        return self.name.lower()


class Location(NamedTuple):
    """The location of a finding.

    Attributes:
        file: the path relative to the workspace's root, with forward slashes.
        line: the 1-based line; 0 for the entire file.
        column: the 1-based column, in characters.
        end_column: the 1-based column after the last character, on the same line.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        """Return `file:line:column`, or only the file if there is no line."""
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem.

    Attributes:
        rule: the rule's id, `family/kebab-name`.
        severity: the severity.
        location: the location in a file.
        message: the problem, in lower case, with names in backticks.
        help: the action to take; empty if the message already states it.
        source_line: the text of the line, for the excerpt below the message.
        alike: the locations of similar findings that this one represents; see
            `group_similar`.
    """

    rule: str
    severity: Severity
    location: Location
    message: str
    help: str = ""
    source_line: str = field(default="", compare=False)
    alike: tuple[Location, ...] = field(default=(), compare=False)


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings by file, line, column, rule and message, and remove duplicates."""
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
    """Represent many similar findings by one, and sort the result.

    Findings are similar if they differ only in location, numbers and names in backticks. Up
    to five similar findings are kept unchanged; of more, the first represents all.
    """
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        texts = [_NAMES.sub("`", text) for text in (finding.message, finding.help)]
        groups.setdefault((finding.rule, finding.severity, *texts), []).append(finding)
    result: list[Finding] = []
    for first, *others in groups.values():
        if len(others) < MAX_SIMILAR_FINDINGS:
            result += [first, *others]
        else:
            locations = tuple(other.location for other in others)
            result.append(replace(first, alike=locations))
    return sort_findings(result)


def limit_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Limit the printed findings per file, and shorten long messages.

    Args:
        findings: sorted findings. The findings of a file beyond the limit are replaced by
            one finding with their number.
    """
    return [
        finding
        for _, group in groupby(findings, key=lambda f: f.location.file)
        for finding in _limit_count([_shorten(finding) for finding in group])
    ]


def _shorten(finding: Finding) -> Finding:
    if (
        len(finding.message) <= _MAX_MESSAGE_CHARACTERS
        and len(finding.help) <= _MAX_MESSAGE_CHARACTERS
    ):
        return finding
    return replace(
        finding,
        message=_shorten_text(finding.message),
        help=_shorten_text(finding.help),
    )


def _shorten_text(text: str) -> str:
    if len(text) <= _MAX_MESSAGE_CHARACTERS:
        return text
    half = _MAX_MESSAGE_CHARACTERS // 2
    return f"{text[:half]} ... {text[-half:]}"


def _limit_count(findings: list[Finding]) -> list[Finding]:
    first_findings, others = (
        findings[:MAX_FINDINGS_SHOWN],
        findings[MAX_FINDINGS_SHOWN:],
    )
    if not others:
        return first_findings
    worst = max(finding.severity for finding in others)
    location = Location(findings[0].location.file)
    message = f"{len(others):,} or more further findings are not shown"
    help_ = "fix the findings that are shown, and run the command again"
    finding = Finding("spec/too-many-findings", worst, location, message, help_)
    return [*first_findings, finding]


def has_errors(findings: Iterable[Finding]) -> bool:
    """Return whether one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
