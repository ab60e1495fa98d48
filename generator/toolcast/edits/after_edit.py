"""The specs as an edit would leave them, held to the rules before anything is written."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

from ..findings import Finding, Severity, has_errors, in_order
from ..model.loading import KnownTools, load_workspace
from ..model.model import Workspace
from ..reading.project_files import DiskFiles, EditedFiles
from ..rules.running import check_workspace, without_suppressed
from .project_edit import Refusal

__all__ = ["specs_after"]


def specs_after(
    workspace: Workspace,
    after: Mapping[str, bytes | None],
    *,
    renamed: tuple[str, str] = ("", ""),
    passed: Iterable[str] = (),
) -> Workspace:
    """The workspace after an edit.

    Args:
        workspace: before it.
        after: what files get, None for those that are removed.
        renamed: a name, and the one that takes its place in what is found.
        passed: rules whose errors the edit may bring.

    Raises:
        Refusal: it brings an error that was not there.
    """
    files = EditedFiles(DiskFiles(workspace.root), after)
    loaded = load_workspace(workspace.root, files=files, known=_read_before(workspace))
    if loaded.workspace is None or has_errors(loaded.findings):
        raise Refusal(
            "the specs could not be read after it", findings=tuple(loaded.findings)
        )
    brought = [f for f in _errors(loaded.workspace) if f.rule not in passed]
    if brought:
        there = {_said(finding, renamed) for finding in _errors(workspace)}
        brought = [f for f in brought if _said(f, renamed) not in there]
    if brought:
        raise Refusal(
            "with this change the specs would have what is found above",
            findings=tuple(brought),
        )
    return loaded.workspace


def _read_before(workspace: Workspace) -> KnownTools:
    """The tools that need not be read again, since they had no error."""
    return {
        (tool.source.file, tool.source.data, workspace.extensions): (tool, [])
        for toolset in workspace.toolsets
        for tool in toolset.tools
    }


def _said(finding: Finding, renamed: tuple[str, str]) -> tuple[str, str]:
    """What a finding says, the same before and after a rename."""
    old, new = renamed
    message = finding.message.replace(old, new) if old else finding.message
    return finding.rule, message


def _errors(workspace: Workspace) -> list[Finding]:
    today = datetime.date.today()
    found = check_workspace(workspace, today, {Severity.ERROR})
    found = without_suppressed(workspace, found, today)
    return [one for one in in_order(found) if has_errors([one])]
