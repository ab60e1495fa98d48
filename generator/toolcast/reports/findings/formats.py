"""The formats of findings; each is imported when it is asked for."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

from ...findings import Finding, Severity, to_show
from ..item import Item, ItemRule

__all__ = [
    "FORMATS",
    "About",
    "fingerprinted",
    "items",
    "report_findings",
    "summary",
    "told_rules",
]

FORMATS = ("text", "json", "github", "sarif", "markdown")
"""The words of `--format`."""


class About(NamedTuple):
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


def report_findings(
    findings: Sequence[Finding], format_: str, about: About | None = None
) -> str:
    """Findings in one of `FORMATS`; untrusted text is escaped for it."""
    about = about or About()
    if format_ == "github":
        from ..github import workflow_commands

        return workflow_commands(items(findings), about.root)
    if format_ == "sarif":
        from ..sarif import sarif

        return sarif(items(findings), told_rules(about.extensions), about.root, "check")
    module = import_module(f".{format_}", __package__)
    text: str = module.write(findings, about)
    return text


def told_rules(extensions: tuple[str, ...]) -> dict[str, ItemRule]:
    """What is told of each rule of findings, by its id."""
    from ...rules.table import rules

    return {
        rule.id: ItemRule(rule.id, rule.severity, rule.text.purpose, rule.text.why)
        for rule in rules(extensions).values()
    }


def summary(findings: Sequence[Finding]) -> str:
    """`2 errors, 1 warning`; empty when there are none."""
    counts = []
    for severity in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        number = sum(finding.severity is severity for finding in findings)
        if number:
            counts.append(f"{number} {severity.word}{'s' if number > 1 else ''}")
    return ", ".join(counts)


def items(findings: Sequence[Finding]) -> list[Item]:
    """The findings that are printed, as items of a report."""
    return [
        Item(
            finding.rule,
            finding.severity,
            finding.place,
            finding.message,
            finding.help,
            fingerprint,
        )
        for finding, fingerprint in fingerprinted(to_show(findings))
    ]


def fingerprinted(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Each with twelve hexadecimal digits that do not depend on where its lines stand.

    Findings of one file that say the same are told apart by their order.
    """
    seen: Counter[str] = Counter()
    for finding in findings:
        said = "\0".join([finding.rule, finding.place.file, finding.message])
        seen[said] += 1
        digest = hashlib.sha256(f"{said}\0{seen[said]}".encode("utf-8", "replace"))
        yield finding, digest.hexdigest()[:12]
