"""The specs as an edit would leave them, held to the rules before anything is written."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

from ..findings import Finding, has_errors, in_order
from ..model.loading import load_workspace
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
    loaded = load_workspace(workspace.root, files=files)
    if loaded.workspace is None or has_errors(loaded.findings):
        raise Refusal(
            "the specs could not be read after it", findings=tuple(loaded.findings)
        )
    old, new = renamed
    known = {
        (finding.rule, finding.message.replace(old, new) if old else finding.message)
        for finding in _errors(workspace)
    }
    brought = [
        finding
        for finding in _errors(loaded.workspace)
        if (finding.rule, finding.message) not in known and finding.rule not in passed
    ]
    if brought:
        raise Refusal(
            "with this change the specs would have what is found above",
            findings=tuple(brought),
        )
    return loaded.workspace


def _errors(workspace: Workspace) -> list[Finding]:
    today = datetime.date.today()
    found = check_workspace(workspace, today)
    found = without_suppressed(workspace, found, today)
    return [one for one in in_order(found) if has_errors([one])]
