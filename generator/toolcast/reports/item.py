"""Findings and changes as items: the one form that every report tells."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..findings import Finding, Location, Severity
from ..git.program import path_in_repository
from ..suggestions import format_first

_MAX_NAMES_SHOWN = 20
"""Owners of one change that a message names."""
NO_VALUES: tuple[Any, ...] = ()
"""The values of an item whose message says them."""


class ReportContext(NamedTuple):
    """What findings or changes are about, and how they are printed.

    Attributes:
        root: the project's folder; None when it does not matter.
        tools: how many tools were read.
        outputs: how many files their specs give.
        every: prints also as text each of those that are alike.
        extensions: those that the project lists.
        colour: whether text is printed in colours.
    """

    root: str | None = None
    tools: int = 0
    outputs: int = 0
    every: bool = False
    extensions: tuple[str, ...] = ()
    colour: bool = False


class Item(NamedTuple):
    """A finding, or a change in one tool or in many.

    Attributes:
        rule: the id of its rule.
        severity: how bad it is.
        place: where it is, in the project as it is now.
        message: what it is, lower case, names in backticks; empty where several safe changes of
            one kind are told by their tools alone.
        help: what to do, or why it is graded so; may be empty.
        fingerprint: stays the same wherever its lines stand.
        accepted: why somebody accepted it; empty when nobody did.
        source_line: the text of a finding's line.
        owner: what has changed: `toolset/tool`, the toolset, or toolcast.yaml; empty for a
            finding.
        grades: what a change means: `breaking for call; risky for prompt`, or `safe`.
        fails: a change is at its limit or above.
        values: what a change's message does not say: the values before and after; or
            NO_VALUES.
        was: where what is gone stood; None for what is there.
        others: where else the same is: places, or the tools with what of them has changed.
    """

    rule: str
    severity: Severity
    location: Location
    message: str
    help: str = ""
    fingerprint: str = ""
    accepted: str = ""
    source_line: str = ""
    owner: str = ""
    grades: str = ""
    fails: bool = False
    values: tuple[Any, ...] = NO_VALUES
    was: Location | None = None
    others: tuple[str, ...] = ()

    @property
    def whole_text(self) -> str:
        """The message with whom it is about, and what it means: for formats of one text."""
        if not self.grades:
            return self.message
        whom = (
            f"in {format_first(self.others, _MAX_NAMES_SHOWN)}"
            if self.others
            else self.owner
        )
        return f"{whom}: {self.message}; {self.grades}"


class ItemRule(NamedTuple):
    """What is told of a rule.

    Attributes:
        id: its id.
        severity: how bad it usually is.
        title: what it is about, one sentence.
        text: more of it, or the same sentence.
    """

    id: str
    severity: Severity
    title: str
    text: str


def place_in_repository(place: Location, root: str | None) -> Location:
    """A place by its path in the repository that the project at `root` lies in."""
    above = path_in_repository(root) if root is not None else ""
    return place._replace(file=above + place.file)


def items_of_findings(findings: Iterable[Finding]) -> list[Item]:
    """An item for each finding, in their order."""
    return [
        Item(
            finding.rule,
            finding.severity,
            finding.location,
            finding.message,
            finding.help,
            fingerprint,
            source_line=finding.source_line,
            others=tuple(map(str, finding.alike)),
        )
        for finding, fingerprint in fingerprinted(findings)
    ]


def fingerprinted(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Each with twelve hexadecimal digits that do not depend on where its lines stand.

    Findings of one file that say the same are told apart by their order.
    """
    seen: Counter[str] = Counter()
    for finding in findings:
        identity = "\0".join([finding.rule, finding.location.file, finding.message])
        seen[identity] += 1
        digest = hashlib.sha256(
            f"{identity}\0{seen[identity]}".encode("utf-8", "replace")
        )
        yield finding, digest.hexdigest()[:12]


def summary(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`; empty when there are none."""
    counts = []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        number = sum(finding.severity is severity for finding in findings)
        if number:
            counts.append(f"{number} {severity.word}{'s' if number > 1 else ''}")
    return ", ".join(counts)
