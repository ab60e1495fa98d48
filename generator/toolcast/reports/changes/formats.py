"""The formats of a diff; each is imported when it is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from typing import Any

from ...changes.change import ABSENT, AUDIENCES, Change, Grade
from ...changes.effects import Effect
from ...changes.review.verdict import Judged, Verdict
from ...findings import Severity
from ..findings.formats import About, told_rules
from ..findings.formats import items as of_findings
from ..item import Item, ItemRule

__all__ = [
    "FORMATS",
    "by_owner",
    "counts",
    "from_definitions",
    "grades_of",
    "items",
    "report_changes",
    "says_values",
    "told_counts",
    "values_of",
]

FORMATS = ("text", "json", "markdown", "github", "sarif")
"""The words of `--format`."""

_WORDS = re.compile(r"[^\s`]+")
_SEVERITIES = {
    Grade.SAFE: Severity.NOTE,
    Grade.RISKY: Severity.WARNING,
    Grade.BREAKING: Severity.ERROR,
}


def report_changes(verdict: Verdict, format_: str, about: About) -> str:
    """A diff in one of `FORMATS`; untrusted text is escaped for it."""
    if format_ == "github":
        from ..github import workflow_commands

        return workflow_commands(items(verdict), about.root)
    if format_ == "sarif":
        from ..sarif import sarif

        return sarif(items(verdict), _told_rules(about.extensions), about.root, "diff")
    module = import_module(f".{format_}", __package__)
    text: str = module.write(verdict, about)
    return text


def _told_rules(extensions: tuple[str, ...]) -> dict[str, ItemRule]:
    """Those of changes, and of the findings of acceptances."""
    from ...changes.table import rules

    of_changes = {
        id_: ItemRule(id_, _SEVERITIES[rule.grades.worst], rule.means, rule.means)
        for id_, rule in rules(extensions).items()
    }
    return told_rules(extensions) | of_changes


def by_owner(changes: Sequence[Judged]) -> list[tuple[str, list[Judged]]]:
    """What has changed, each with its changes: what fails first, then by the worst grade."""
    return [
        (owner, sorted(group, key=_urgency))
        for owner, group in groupby(changes, key=lambda one: one.owner)
    ]


def _urgency(one: Judged) -> tuple[bool, int]:
    return not one.fails, -one.change.grades.worst


def counts(verdict: Verdict) -> dict[str, dict[str, int]]:
    """How many changes have each grade, by audience, the worst grade first."""
    return {
        audience: {
            grade.word: sum(
                one.change.grades[index] is grade for one in verdict.changes
            )
            for grade in sorted(Grade, reverse=True)
        }
        for index, audience in enumerate(AUDIENCES)
    }


def told_counts(verdict: Verdict) -> dict[str, str]:
    """`2 breaking, 1 risky` by audience; empty where all is safe."""
    return {
        audience: ", ".join(
            f"{n:,} {word}" for word, n in grades.items() if n and word != "safe"
        )
        for audience, grades in counts(verdict).items()
    }


def grades_of(change: Change) -> dict[str, str]:
    """The word of each audience's grade."""
    return {
        name: grade.word for name, grade in zip(AUDIENCES, change.grades, strict=True)
    }


def values_of(one: Change | Effect) -> dict[str, Any]:
    """`before` and `after`, each where there is one."""
    values = {"before": one.before, "after": one.after}
    return {name: value for name, value in values.items() if value is not ABSENT}


def says_values(change: Change) -> bool:
    """Whether the message has both values, so that they need no lines of their own."""
    words = _WORDS.findall(change.message)
    return all(
        isinstance(value, (str, int, float))
        and (value if isinstance(value, str) else json.dumps(value)) in words
        for value in values_of(change).values()
    )


def items(verdict: Verdict) -> list[Item]:
    """What a reviewer has to see, the worst first: safe changes are not among it.

    Then the findings of acceptances.
    """
    shown = [one for one in verdict.changes if one.change.grades.worst > Grade.SAFE]
    shown.sort(key=_urgency)
    return [*map(_item, shown), *of_findings(verdict.findings)]


def _item(one: Judged) -> Item:
    change = one.change
    grades = ", ".join(
        f"{name} {word}" for name, word in grades_of(change).items() if word != "safe"
    )
    message = f"{one.owner}: {change.message}; {grades}"
    return Item(
        change.rule.id,
        one.severity,
        one.place,
        message,
        change.reason,
        change.fingerprint,
        one.accepted.reason if one.accepted is not None else "",
    )


def from_definitions(verdict: Verdict) -> list[tuple[str, str]]:
    """What is told once of changes of shared definitions: the file, and words behind it."""
    found: dict[str, list[Judged]] = {}
    for one in verdict.changes:
        if one.change.is_shared:
            found.setdefault(one.change.place.file, []).append(one)
    return [(file, _told_once(changes)) for file, changes in found.items()]


def _told_once(changes: Sequence[Judged]) -> str:
    lines = len({(one.change.place.line, one.change.is_gone) for one in changes})
    tools = len({one.owner for one in changes})
    return (
        f"{lines} changed {'line makes' if lines == 1 else 'lines make'}"
        f" {len(changes):,} of these changes, in {tools:,}"
        f" {'tool' if tools == 1 else 'tools'}"
    )
