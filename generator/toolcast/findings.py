"""One problem is one finding: a value that every stage gives and only reports print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

__all__ = ["Finding", "Place", "Severity", "has_errors", "in_order"]


class Severity(IntEnum):
    """How bad a finding is; higher is worse."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        """The lower-case word that reports and options use."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Place:
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
    """

    rule: str
    severity: Severity
    place: Place
    message: str
    help: str = ""
    source_line: str = field(default="", compare=False)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """Findings by file, line, column, rule and message, each one once."""
    unique = dict.fromkeys(findings)
    return sorted(
        unique,
        key=lambda f: (f.place.file, f.place.line, f.place.column, f.rule, f.message),
    )


def has_errors(findings: Iterable[Finding]) -> bool:
    """True when one of the findings is an error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
