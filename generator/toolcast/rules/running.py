"""Runs every rule over a workspace and takes out what specs suppress."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from ..findings import Finding, Severity
from ..spec.model import Suppression, Toolset, ToolSpec, Workspace
from ..spec.shape import did_you_mean
from .scope import Scope
from .table import known_ids, rule, rules

__all__ = ["Earlier", "Known", "check_workspace", "next_end", "without_suppressed"]


class Known(NamedTuple):
    """What earlier runs found that still holds, and what they cannot tell.

    Attributes:
        findings: those of the tools that need not be checked again, and of the toolset.
        again: the tools that must be.
    """

    findings: list[Finding]
    again: tuple[ToolSpec, ...] = ()


class Earlier(Protocol):
    """What earlier runs of rules found, where that still holds."""

    @property
    def scopes(self) -> Sequence[Scope] | None:
        """The scopes of all rules that check anything; None when only they can tell."""

    def learn_scopes(self, scopes: Sequence[Scope]) -> None:
        """Keeps the scopes of all rules."""

    def findings(
        self, scope: Scope, toolset: Toolset, workspace: Workspace
    ) -> Known | None:
        """What is known of a rule's findings over a toolset; None when only a new run of
        the rule over all its tools can tell.
        """

    def learn(self, rule: str, toolset: Toolset, findings: list[Finding]) -> None:
        """Keeps what the rule of an id has found."""


def check_workspace(
    workspace: Workspace, earlier: Earlier | None = None
) -> list[Finding]:
    """The findings of every rule over every toolset, before suppression."""
    scopes = earlier.scopes if earlier else None
    if scopes is None:
        scopes = [one.scope for one in rules().values() if one.check is not None]
    if earlier is not None:
        earlier.learn_scopes(scopes)
    found: list[Finding] = []
    for toolset in workspace.toolsets:
        for scope in scopes:
            known = earlier.findings(scope, toolset, workspace) if earlier else None
            findings = _findings(scope.rule, toolset, workspace, known)
            if earlier is not None:
                earlier.learn(scope.rule, toolset, findings)
            found += findings
        for tool in toolset.tools:
            # What rules computed of it and kept, such as its texts: nobody asks again.
            tool.__dict__.pop("kept", None)
    return found


def _findings(
    id: str, toolset: Toolset, workspace: Workspace, known: Known | None
) -> list[Finding]:
    if known is not None and not known.again:
        return known.findings
    check = rule(id).check
    if check is None:
        return []
    if known is None:
        return list(check(toolset, workspace))
    new = check(replace(toolset, tools=known.again), workspace)
    # What it says of the toolset itself is known.
    header = f"{toolset.folder}/toolset.yaml"
    return [*known.findings, *(one for one in new if one.place.file != header)]


def without_suppressed(
    workspace: Workspace, findings: Iterable[Finding], today: datetime.date
) -> list[Finding]:
    """The findings that no spec suppresses, and those about the suppressions themselves.

    A suppression counts in its own file. One whose rule is unknown, that nothing needs, or
    whose date has come is a finding itself.
    """
    listed = list(findings)
    suppressions = dict(_suppressions(workspace))
    kept: list[Finding] = []
    used: set[tuple[str, int]] = set()
    for finding in listed:
        match = _match(finding, suppressions.get(finding.place.file), today)
        if match is None:
            kept.append(finding)
        else:
            used.add((finding.place.file, match))
    for file, (owner, entries) in suppressions.items():
        for index, entry in enumerate(entries):
            problem = _problem(entry, (file, index) in used, today)
            if problem is not None and owner.document is not None:
                rule, severity, message, help_ = problem
                kept.append(
                    owner.document.finding(
                        rule, severity, ("suppress", index, "rule"), message, help_
                    )
                )
    return kept


def next_end(workspace: Workspace, today: datetime.date) -> str | None:
    """The next day on which a suppression ends, as ISO 8601; None when none will."""
    days = [
        entry.until
        for _, (_, entries) in _suppressions(workspace)
        for entry in entries
        if entry.until is not None and entry.until > today.isoformat()
    ]
    return min(days, default=None)


Entries = tuple[Toolset | ToolSpec, tuple[Suppression, ...]]


def _suppressions(workspace: Workspace) -> Iterator[tuple[str, Entries]]:
    for toolset in workspace.toolsets:
        if toolset.suppress:
            yield f"{toolset.folder}/toolset.yaml", (toolset, toolset.suppress)
        for tool in toolset.tools:
            if tool.suppress:
                yield f"{toolset.folder}/{tool.name}.yaml", (tool, tool.suppress)


def _match(
    finding: Finding, entries: Entries | None, today: datetime.date
) -> int | None:
    if entries is None:
        return None
    for index, entry in enumerate(entries[1]):
        if entry.rule == finding.rule and not _is_over(entry, today):
            return index
    return None


def _is_over(entry: Suppression, today: datetime.date) -> bool:
    return entry.until is not None and entry.until <= today.isoformat()


def _problem(
    entry: Suppression, is_used: bool, today: datetime.date
) -> tuple[str, Severity, str, str] | None:
    ids = known_ids()
    if entry.rule not in ids:
        return (
            "spec/unknown-rule",
            Severity.ERROR,
            f"there is no rule `{entry.rule}`",
            did_you_mean(entry.rule, ids),
        )
    if _is_over(entry, today):
        return (
            "spec/suppression-over",
            Severity.WARNING,
            f"the suppression of `{entry.rule}` ended on {entry.until}",
            "mend the finding, or decide anew",
        )
    if not is_used:
        return (
            "spec/unused-suppression",
            Severity.WARNING,
            f"nothing here needs the suppression of `{entry.rule}`",
            "remove it",
        )
    return None
