"""Report items: findings and changes in the form that all report formats render."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..findings import Finding, Location, Severity
from ..git.program import path_in_repository
from ..suggestions import format_first

_MAX_NAMES_SHOWN = 20
"""Tools of one change that a message names."""
NO_VALUES: tuple[Any, ...] = ()
"""`ReportItem.values` of an item whose message already contains the values."""


class ReportContext(NamedTuple):
    """Information on a run, and display options of its report.

    Attributes:
        root: the project's folder; None if paths need not be relative to the repository.
        tools: the number of tools that were loaded.
        outputs: the number of generated files.
        shows_all: whether similar findings and changes are reported one by one.
        extensions: the extensions that the project uses.
        has_color: whether text output contains colors.
        shows_texts: whether items of changes contain the texts of added values. A comparison
            of two tool lists needs this, because there is no file diff with these texts.
    """

    root: str | None = None
    tools: int = 0
    outputs: int = 0
    shows_all: bool = False
    extensions: tuple[str, ...] = ()
    has_color: bool = False
    shows_texts: bool = False


class ReportItem(NamedTuple):
    """A finding, or a change in one or several tools.

    Attributes:
        rule: the id of the rule.
        severity: the severity.
        location: the location in the current version of the project.
        message: the problem or change, in lower case, with names in backticks; empty for
            several safe changes of one kind with different messages.
        help: the action to take, or the reason for a change's grades; may be empty.
        fingerprint: an identifier that does not depend on line numbers.
        acceptance_reason: the reason why a change was accepted; empty if it was not.
        source_line: the text of a finding's line.
        owner: the subject of a change: `toolset/tool`, the toolset, or toolcast.yaml; empty for
            a finding.
        grades: the grades of a change: `breaking for call; risky for prompt`, or `safe`.
        is_failing: whether the change reaches a limit of `--fail-on`.
        values: the old and new value of a change, or `NO_VALUES`.
        old_location: the location of a removed value in the old version; None for other items.
        others: the locations of similar findings, or all tools with the same change.
        texts: the lines of the texts that a change adds; see `ReportContext.shows_texts`.
    """

    rule: str
    severity: Severity
    location: Location
    message: str
    help: str = ""
    fingerprint: str = ""
    acceptance_reason: str = ""
    source_line: str = ""
    owner: str = ""
    grades: str = ""
    is_failing: bool = False
    values: tuple[Any, ...] = NO_VALUES
    old_location: Location | None = None
    others: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def full_text(self) -> str:
        """The message with a change's tools and grades, for formats with a single text."""
        if not self.grades:
            return self.message
        subject = self.owner
        if self.others:
            subject = f"in {format_first(self.others, _MAX_NAMES_SHOWN)}"
        return f"{subject}: {self.message}; {self.grades}"


class ReportRule(NamedTuple):
    """Description of a rule in a report.

    Attributes:
        id: the rule's id.
        severity: the default severity.
        title: one sentence on the rule's subject.
        text: the description; may be the same sentence.
    """

    id: str
    severity: Severity
    title: str
    text: str


def locate_in_repository(location: Location, root: str | None) -> Location:
    """Return a location with its path relative to the repository that contains `root`.

    Without `root`, the location is returned unchanged.
    """
    prefix = path_in_repository(root) if root is not None else ""
    return location._replace(file=prefix + location.file)


def build_finding_items(findings: Iterable[Finding]) -> list[ReportItem]:
    """Build an item for each finding, in the same order."""
    return [
        ReportItem(
            finding.rule,
            finding.severity,
            finding.location,
            finding.message,
            finding.help,
            fingerprint,
            source_line=finding.source_line,
            others=tuple(map(str, finding.alike)),
        )
        for finding, fingerprint in add_fingerprints(findings)
    ]


def add_fingerprints(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield each finding with a fingerprint of twelve hexadecimal digits.

    The fingerprint depends on the rule, the file and the message, not on the line. Findings with
    the same three are numbered in their order.
    """
    counts: Counter[str] = Counter()
    for finding in findings:
        identity = "\0".join([finding.rule, finding.location.file, finding.message])
        counts[identity] += 1
        # "replace", because UTF-8 cannot encode a lone surrogate in a message.
        digest = hashlib.sha256(
            f"{identity}\0{counts[identity]}".encode("utf-8", "replace")
        )
        yield finding, digest.hexdigest()[:12]


def format_severity_counts(findings: Sequence[Finding]) -> str:
    """Return the number of findings by severity: `2 errors, 1 warning`.

    The result is empty without findings.
    """
    counts = []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        count = sum(finding.severity is severity for finding in findings)
        if count:
            counts.append(f"{count} {severity.label}{'s' if count > 1 else ''}")
    return ", ".join(counts)
