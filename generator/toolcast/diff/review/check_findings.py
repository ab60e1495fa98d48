"""Findings of `toolcast check` that a change of the specs adds or fixes."""

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

_EXCLUDED_RULES = ("handler/", "data/", "output/", "spec/unused-suppression")
"""Rules about files other than specs, of which no old version is available."""
_NUMBER = re.compile(r"[0-9][0-9,.]*")
_QUOTED_NAME = re.compile(r"`([^`]*)`")


class CheckFindings(NamedTuple):
    """Errors and warnings that only one of two versions has, each in order.

    Attributes:
        added: the findings of the new version.
        fixed: the findings of the old version.
    """

    added: Sequence[Finding] = ()
    fixed: Sequence[Finding] = ()


NO_FINDINGS = CheckFindings()


class _FindingIdentity(NamedTuple):
    """A finding with keys that are equal in both versions.

    Attributes:
        finding: the finding.
        owner: the tool with the finding, by its new name, or else the file.
        message: the message without numbers, which change with every edit.
        subject: the first quoted name in the message.
    """

    finding: Finding
    owner: str
    message: str
    subject: str

    @property
    def exact_key(self) -> tuple[str, ...]:
        """A key that is equal for findings with the same message."""
        return self.finding.rule, self.owner, self.message

    @property
    def subject_key(self) -> tuple[str, ...]:
        """A key that is equal for findings of the same rule about the same subject."""
        return self.finding.rule, self.owner, self.subject


def compare_findings(
    before: Workspace,
    after: Workspace,
    read: tuple[Sequence[Finding], Sequence[Finding]],
    today: datetime.date,
    excluded_rules: tuple[str, ...] = (),
) -> CheckFindings:
    """Return the findings that only one of two versions has.

    Findings are the same if rule, tool or toolset, and message are equal, or at least the
    first name in the message. Lines and numbers are ignored.

    Args:
        before: the old version.
        after: the new version.
        read: the findings from reading the old and the new version.
        today: the date with which expiry dates are compared.
        excluded_rules: the beginnings of rule ids that are not compared.

    Raises:
        ExtensionError: an extension that the workspace lists cannot be used.
    """
    new_names = _list_renames(before, after)
    excluded = (*_EXCLUDED_RULES, *excluded_rules)
    old = [
        identity
        for identity in _list_findings(before, read[0], new_names, today)
        if not identity.finding.rule.startswith(excluded)
    ]
    new = [
        identity
        for identity in _list_findings(after, read[1], {}, today)
        if not identity.finding.rule.startswith(excluded)
    ]
    # Match equal messages first: a rule can have several findings about one subject.
    for key in ("exact_key", "subject_key"):
        old_counts = Counter(getattr(identity, key) for identity in old)
        new_counts = Counter(getattr(identity, key) for identity in new)
        shared_counts = old_counts & new_counts
        old = _remove_shared(old, key, shared_counts.copy())
        new = _remove_shared(new, key, shared_counts.copy())
    return CheckFindings(
        added=sort_findings(identity.finding for identity in new),
        fixed=sort_findings(identity.finding for identity in old),
    )


def _list_renames(before: Workspace, after: Workspace) -> dict[str, str]:
    """Return the new names of renamed tools by the old ones."""
    old_toolsets = {toolset.name: toolset for toolset in before.toolsets}
    names = {}
    for toolset in after.toolsets:
        old_toolset = old_toolsets.get(toolset.name)
        if old_toolset is None:
            continue
        for old, new in pair_tools(old_toolset, toolset):
            if old.name != new.name:
                names[old.name] = new.name
    return names


def _list_findings(
    workspace: Workspace,
    read: Sequence[Finding],
    new_names: Mapping[str, str],
    today: datetime.date,
) -> Iterator[_FindingIdentity]:
    """Yield the errors and warnings of a version that are not suppressed.

    Notes are omitted. In owners and messages, old tool names are replaced by new ones.
    """
    owners = {
        tool.source.file: f"{toolset.name}/{new_names.get(tool.name, tool.name)}"
        for toolset in workspace.toolsets
        for tool in toolset.tools
    }
    findings = [*read, *check_workspace(workspace, today)]
    for finding in apply_suppressions(workspace, findings, today):
        if finding.severity is Severity.NOTE:
            continue
        file = finding.location.file
        # Replace old names of renamed tools, so that messages of both versions are equal.
        message = _QUOTED_NAME.sub(
            lambda match: f"`{new_names.get(match[1], match[1])}`", finding.message
        )
        subject = _QUOTED_NAME.search(message)
        yield _FindingIdentity(
            finding,
            owners.get(file, file),
            _NUMBER.sub("0", message),
            "" if subject is None else subject[1],
        )


def _remove_shared(
    identities: list[_FindingIdentity], key: str, shared_counts: Counter[object]
) -> list[_FindingIdentity]:
    """Return the findings of one version without the findings of both versions.

    Args:
        identities: the findings.
        key: the property that is compared.
        shared_counts: how many findings both versions have, by key; is modified.
    """
    remaining = []
    for identity in identities:
        value = getattr(identity, key)
        if shared_counts[value] > 0:
            shared_counts[value] -= 1
        else:
            remaining.append(identity)
    return remaining
