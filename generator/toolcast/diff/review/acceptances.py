"""`toolcast.accept.yaml`: changes that are accepted despite their grades."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...findings import Finding, Location, Severity, has_errors
from ...model.binding import read_spec_bytes
from ...model.spec_schema import check_schema
from ...parsing.project_files import ProjectFiles
from ...parsing.tree import NOWHERE, Path, Source
from ...parsing.yaml_reader import read_yaml
from ...suggestions import did_you_mean
from ..change import Change, ChangeRule

ACCEPT_FILE = "toolcast.accept.yaml"
"""Name of the file, which is next to toolcast.yaml."""
EVERY_TOOL = "*"
"""Value of `tool` that matches every tool; it is not a wildcard inside a name."""


class AcceptanceFileError(Exception):
    """Acceptance file that cannot be read or is invalid.

    Attributes:
        findings: the problems.
    """

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(ACCEPT_FILE)
        self.findings = findings


@dataclass(frozen=True)
class Acceptance:
    """An entry of the acceptance file.

    Attributes:
        reason: why the change is accepted.
        fingerprint: the fingerprint of the accepted change; empty if the entry has a rule.
        rule: the id of the accepted kind of change.
        tool: the tool's name, or EVERY_TOOL; empty for changes of the toolset itself.
        toolset: the toolset's name; empty for any toolset.
        until: the date from which the entry is expired; None if it never expires.
        path: the path of the entry in the file.
        source: the file.
    """

    reason: str
    fingerprint: str = ""
    rule: str = ""
    tool: str = ""
    toolset: str = ""
    until: datetime.date | None = None
    path: Path = ()
    source: Source = field(default=NOWHERE, compare=False)

    def is_expired(self, today: datetime.date) -> bool:
        """Return whether the entry is expired on a date."""
        return self.until is not None and self.until <= today

    def accepts(self, change: Change) -> bool:
        """Return whether the entry matches a change, expired or not.

        An entry with a fingerprint matches only this fingerprint. Otherwise the rule
        must be equal, the toolset too if the entry has one, and the tool must be equal;
        an entry without a tool matches only changes of the toolset itself.
        """
        # A fingerprint identifies one change; entries with one have no other selectors.
        if self.fingerprint:
            return self.fingerprint == change.fingerprint
        if self.rule != change.rule.id:
            return False
        if self.toolset and self.toolset != change.toolset:
            return False
        if self.tool == EVERY_TOOL and change.tool:
            return True
        return self.tool == change.tool

    @property
    def location(self) -> Location:
        """The location of the entry in the file."""
        return Location(self.source.file, *self.source.span(self.path))


def read_acceptance_file(files: ProjectFiles, name: str = ACCEPT_FILE) -> bytes:
    """Return the bytes of a project's acceptance file; empty if it does not exist.

    Args:
        files: the project's files.
        name: the name of the acceptance file.

    Raises:
        AcceptanceFileError: the file cannot be read.
    """
    if not files.is_there(name):
        return b""
    data, findings = read_spec_bytes(files, name)
    if data is None:
        raise AcceptanceFileError(findings)
    return data


def parse_acceptances(data: bytes, name: str = ACCEPT_FILE) -> list[Acceptance]:
    """Parse the content of an acceptance file.

    Args:
        data: the content.
        name: the name of the file, for findings.

    Raises:
        AcceptanceFileError: the content is invalid.
    """
    if not data:
        return []
    document, findings = read_yaml(name, data)
    if document is not None:
        findings += check_schema(document, "accept")
    if document is None or has_errors(findings):
        raise AcceptanceFileError(findings)
    acceptances = []
    problems: list[Finding] = []
    for index, entry in enumerate(document.value["accept"]):
        path = ("accept", index)
        problem = _find_problem(entry)
        if problem is None:
            acceptances.append(_build_acceptance(entry, path, document.source))
            continue
        key, message, help_text = problem
        problem_path = (*path, key) if key in entry else path
        problems.append(
            document.source.finding(
                "spec/invalid-value", Severity.ERROR, problem_path, message, help_text
            )
        )
    if problems:
        raise AcceptanceFileError(problems)
    return acceptances


def _find_problem(entry: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return the key, message and help of an entry's first problem, or None.

    Checks only conditions that the JSON Schema of the file does not express.
    """
    selectors = [key for key in ("rule", "tool", "toolset") if key in entry]
    if "fingerprint" in entry and selectors:
        key = selectors[0]
        message = f"`{key}` cannot be combined with `fingerprint`"
        return key, message, f"remove `{key}` or `fingerprint`"
    if "fingerprint" not in entry and "rule" not in entry:
        message = "the acceptance has neither a `fingerprint` nor a `rule`"
        return "", message, "add a `fingerprint`, or a `rule` and a `tool`"
    # A rule without a tool or toolset would also accept future changes everywhere.
    if selectors == ["rule"]:
        message = f"`{entry['rule']}` is accepted for every toolset and tool"
        help_text = 'add a `tool` (`"*"` for every tool) or a `toolset`'
        return "rule", message, help_text
    until = entry.get("until")
    # The schema checks only the form of a date, so it admits `2030-02-30`.
    if until is not None:
        try:
            datetime.date.fromisoformat(until)
        except ValueError:
            message = f"`{until}` is not a date"
            return "until", message, 'write a date such as "2030-12-31"'
    return None


def _build_acceptance(entry: dict[str, Any], path: Path, source: Source) -> Acceptance:
    until = entry.get("until")
    date = None if until is None else datetime.date.fromisoformat(until)
    return Acceptance(**{**entry, "until": date}, path=path, source=source)


def find_acceptance(
    change: Change, acceptances: Sequence[Acceptance], today: datetime.date
) -> Acceptance | None:
    """Return the first unexpired acceptance that matches a change, or None."""
    for acceptance in acceptances:
        if not acceptance.is_expired(today) and acceptance.accepts(change):
            return acceptance
    return None


def check_acceptances(
    acceptances: Sequence[Acceptance],
    changes: Sequence[Change],
    known: Mapping[str, ChangeRule],
    today: datetime.date,
) -> Iterator[Finding]:
    """Yield a finding for each acceptance that is expired or matches no change.

    Args:
        acceptances: the entries of the acceptance file.
        changes: the changes of the comparison.
        known: all kinds of changes by id.
        today: the date with which expiry dates are compared.
    """
    for acceptance in acceptances:
        if acceptance.is_expired(today):
            message = f"the acceptance expired on {acceptance.until}"
            help_text = "remove it, or set a later `until`"
            yield _make_finding(acceptance, "accept/expired", message, help_text)
        elif not any(acceptance.accepts(change) for change in changes):
            message = "the acceptance matches no change"
            help_text = "remove it, unless its change is still to come"
            rule = acceptance.rule
            if rule and rule not in known:
                message = f"unknown kind of change `{rule}`"
                help_text = did_you_mean(rule, known) or "see `toolcast explain`"
            yield _make_finding(acceptance, "accept/unused", message, help_text)


def _make_finding(
    acceptance: Acceptance, rule_id: str, message: str, help_text: str
) -> Finding:
    source, path = acceptance.source, acceptance.path
    return source.finding(rule_id, Severity.WARNING, path, message, help_text)
