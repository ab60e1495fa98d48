"""`toolcast.accept.yaml`: changes that somebody has decided to make all the same."""

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
"""Stands beside toolcast.yaml."""
EVERY_TOOL = "*"
"""Instead of a tool's name: each tool. It stands for no part of a name."""


class AcceptanceFileError(Exception):
    """Acceptance file that has errors.

    Attributes:
        findings: which.
    """

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(ACCEPT_FILE)
        self.findings = findings


@dataclass(frozen=True)
class Acceptance:
    """One entry of the file.

    Attributes:
        reason: why the change is made.
        fingerprint: the one change that it accepts; empty where it names a rule.
        rule: the id of the changes that it accepts.
        tool: the name of their tool, or EVERY_TOOL; empty for those of a toolset itself.
        toolset: the name of their toolset; empty for any.
        until: the day from which it accepts nothing any more; None for ever.
        path: where it stands in the file.
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
        """Whether its day has come."""
        return self.until is not None and self.until <= today

    def accepts(self, change: Change) -> bool:
        """Whether it is about a change."""
        if self.fingerprint:
            return self.fingerprint == change.fingerprint
        if self.rule != change.rule.id:
            return False
        if self.toolset and self.toolset != change.toolset:
            return False
        return self.tool == change.tool or (
            self.tool == EVERY_TOOL and bool(change.tool)
        )

    @property
    def location(self) -> Location:
        """Where it stands."""
        return Location(self.source.file, *self.source.span(self.path))


def read_acceptance_file(files: ProjectFiles, name: str = ACCEPT_FILE) -> bytes:
    """The bytes of a folder's file; none where there is no such file.

    Raises:
        AcceptanceFileError: it cannot be read.
    """
    if not files.is_there(name):
        return b""
    data, findings = read_spec_bytes(files, name)
    if data is None:
        raise AcceptanceFileError(findings)
    return data


def parse_acceptances(data: bytes, name: str = ACCEPT_FILE) -> list[Acceptance]:
    """The entries of a file's bytes.

    Args:
        name: what findings call the file.

    Raises:
        AcceptanceFileError: they have errors.
    """
    if not data:
        return []
    document, findings = read_yaml(name, data)
    if document is not None:
        findings += check_schema(document, "accept")
    if document is None or has_errors(findings):
        raise AcceptanceFileError(findings)
    found, problems = [], []
    for index, entry in enumerate(document.value["accept"]):
        path = ("accept", index)
        problem = _problem(entry)
        if problem is None:
            found.append(_bound(entry, path, document.source))
        else:
            key, message, help_ = problem
            problems.append(
                document.source.finding(
                    "spec/invalid-value",
                    Severity.ERROR,
                    (*path, key) if key in entry else path,
                    message,
                    help_,
                )
            )
    if problems:
        raise AcceptanceFileError(problems)
    return found


def _problem(entry: dict[str, Any]) -> tuple[str, str, str] | None:
    """What the schema does not say: a key, what is wrong, what to do."""
    beside = [key for key in ("rule", "tool", "toolset") if key in entry]
    if "fingerprint" in entry and beside:
        message = f"`{beside[0]}` stands beside a fingerprint, which says it all"
        return beside[0], message, "keep one of the two"
    if "fingerprint" not in entry and "rule" not in entry:
        message = "this acceptance names no change"
        return "", message, "give it a `fingerprint`, or a `rule` and a `tool`"
    if "rule" in entry and len(beside) == 1:
        message = f"`{entry['rule']}` would be accepted everywhere"
        help_ = 'name the `tool` (`"*"` for every tool) or the `toolset`'
        return "rule", message, help_
    try:
        datetime.date.fromisoformat(entry.get("until", "2030-12-31"))
    except ValueError:
        message = f"`{entry['until']}` is no day of the calendar"
        return "until", message, 'write it as "2030-12-31"'
    return None


def _bound(entry: dict[str, Any], path: Path, source: Source) -> Acceptance:
    until = entry.get("until")
    day = until and datetime.date.fromisoformat(until)
    return Acceptance(**{**entry, "until": day}, path=path, source=source)


def find_acceptance(
    change: Change, acceptances: Sequence[Acceptance], today: datetime.date
) -> Acceptance | None:
    """The first one that accepts a change today."""
    in_force = (one for one in acceptances if not one.is_expired(today))
    return next((one for one in in_force if one.accepts(change)), None)


def check_acceptances(
    acceptances: Sequence[Acceptance],
    changes: Sequence[Change],
    known: Mapping[str, ChangeRule],
    today: datetime.date,
) -> Iterator[Finding]:
    """The findings of entries that accept none of a comparison's changes; see `judge`."""
    for one in acceptances:
        if one.is_expired(today):
            message = f"this acceptance ended on {one.until}"
            help_ = "decide anew: give it another day, or remove it"
            yield _finding(one, "accept/expired", message, help_)
        elif not any(one.accepts(change) for change in changes):
            message = "this acceptance matches no change"
            help_ = "remove it, unless what it is for is still to come"
            if one.rule and one.rule not in known:
                message = f"there is no change called `{one.rule}`"
                help_ = did_you_mean(one.rule, known) or "`toolcast explain` lists them"
            yield _finding(one, "accept/unused", message, help_)


def _finding(one: Acceptance, rule: str, message: str, help_: str) -> Finding:
    return one.source.finding(rule, Severity.WARNING, one.path, message, help_)
