"""Which findings of `check` a change brings, and which it mends."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...findings import Finding, Severity, sort_findings
from ...model.model import Workspace
from ...rules.runner import apply_suppressions, check_workspace
from ..change import pair_tools

_ELSEWHERE = ("handler/", "data/", "output/", "spec/unused-suppression")
"""Rules about files that are no specs: of those the old side has no copy."""
_NUMBER = re.compile(r"[0-9][0-9,.]*")
_NAME = re.compile(r"`([^`]*)`")


class CheckFindings(NamedTuple):
    """Errors and warnings that only one of two states has, each in order.

    Attributes:
        brought: those of the new state.
        mended: those of the old one.
    """

    added: Sequence[Finding] = ()
    fixed: Sequence[Finding] = ()


NO_FINDINGS = CheckFindings()


class _FindingIdentity(NamedTuple):
    """A finding, and what tells that one of the other side is the same.

    Attributes:
        owner: the file that it is in, as the new side calls it.
        words: its message without numbers, which differ with each edit.
        subject: the first name in its message.
    """

    finding: Finding
    owner: str
    words: str
    subject: str

    @property
    def same(self) -> tuple[str, ...]:
        """Equal for findings that say the same."""
        return self.finding.rule, self.owner, self.words

    @property
    def alike(self) -> tuple[str, ...]:
        """Equal for findings of one rule about one thing, whatever they say of it."""
        return self.finding.rule, self.owner, self.subject


def compare_findings(
    before: Workspace,
    after: Workspace,
    read: tuple[Sequence[Finding], Sequence[Finding]],
    today: datetime.date,
    excluded_rules: tuple[str, ...] = (),
) -> CheckFindings:
    """What the rules find in one of two states and not in the other.

    A finding is the same where its rule is, the tool or toolset, and what it names; lines and
    numbers may differ.

    Args:
        read: the findings with which both states were read, before and after.
        left_out: how the ids of rules begin that are not asked.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    names = {
        old.name: new.name
        for toolset in after.toolsets
        for former in before.toolsets
        if former.name == toolset.name
        for old, new in pair_tools(former, toolset)
        if old.name != new.name
    }
    unasked = (*_ELSEWHERE, *excluded_rules)
    old, new = (
        [one for one in side if not one.finding.rule.startswith(unasked)]
        for side in (
            _placed(before, read[0], names, today),
            _placed(after, read[1], {}, today),
        )
    )
    for key in ("same", "alike"):
        counts = [Counter(getattr(one, key) for one in side) for side in (old, new)]
        both = counts[0] & counts[1]
        old, new = (_without(side, key, both.copy()) for side in (old, new))
    return CheckFindings(
        *(sort_findings(one.finding for one in side) for side in (new, old))
    )


def _placed(
    workspace: Workspace,
    read: Sequence[Finding],
    names: Mapping[str, str],
    today: datetime.date,
) -> Iterator[_FindingIdentity]:
    owners = {
        tool.source.file: f"{toolset.name}/{names.get(tool.name, tool.name)}"
        for toolset in workspace.toolsets
        for tool in toolset.tools
    }
    found = [*read, *check_workspace(workspace, today)]
    for finding in apply_suppressions(workspace, found, today):
        if finding.severity is Severity.NOTE:
            continue
        file = finding.location.file
        message = _NAME.sub(
            lambda match: f"`{names.get(match[1], match[1])}`", finding.message
        )
        subject = _NAME.search(message)
        yield _FindingIdentity(
            finding,
            owners.get(file, file),
            _NUMBER.sub("0", message),
            "" if subject is None else subject[1],
        )


def _without(
    side: list[_FindingIdentity], key: str, both: Counter[object]
) -> list[_FindingIdentity]:
    """A side without those of its findings that the other one has, too."""
    left = []
    for one in side:
        if both[getattr(one, key)] > 0:
            both[getattr(one, key)] -= 1
        else:
            left.append(one)
    return left
