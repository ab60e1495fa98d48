"""Loads both sides of a comparison."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..findings import Finding, has_errors
from ..git.commit import CommitFiles, commit_of, merge_base
from ..model.loading import KnownTools, load_workspace
from ..model.model import Workspace
from ..project import WORKSPACE_FILE
from ..reading.project_files import ProjectFiles

__all__ = ["Sides", "SpecErrors", "load_sides"]


class SpecErrors(Exception):
    """The specs of a side cannot be read.

    Attributes:
        side: what a person calls that side.
        findings: why.
    """

    def __init__(self, side: str, findings: list[Finding]) -> None:
        super().__init__(side)
        self.side = side
        self.findings = findings


class Sides(NamedTuple):
    """Two states of a project.

    Attributes:
        before: what the project is compared with; None where it had no toolcast.yaml.
        after: the project as it is on disk.
        against: what a person calls the first one: a reference or a folder.
    """

    before: Workspace | None
    after: Workspace
    against: str


def load_sides(root: str, against: str | None) -> Sides:
    """The project at `root`, and what it is compared with.

    Specs are loaded without rules, and what is the same on both sides is loaded once.

    Args:
        against: a folder with a toolcast.yaml, or what git takes for a commit; default: the
            last commit in common with the main branch.

    Raises:
        SpecErrors: the specs of a side have errors.
        GitFailure: git does not know the reference.
        ShallowClone: the clone does not have it.
    """
    known: KnownTools = {}
    after = _loaded(root, None, known, "the specs")
    if against is not None and os.path.lexists(os.path.join(against, WORKSPACE_FILE)):
        folder = os.path.abspath(against)
        return Sides(_loaded(folder, None, known, against), after, against)
    commit = merge_base(root) if against is None else commit_of(root, against)
    name = against or commit[:12]
    files = CommitFiles(root, commit)
    if not files.is_there(WORKSPACE_FILE):
        return Sides(None, after, name)
    return Sides(_loaded(root, files, known, name), after, name)


def _loaded(
    root: str, files: ProjectFiles | None, known: KnownTools, side: str
) -> Workspace:
    loaded = load_workspace(root, files=files, known=known)
    if loaded.workspace is None or has_errors(loaded.findings):
        raise SpecErrors(side, loaded.findings)
    return loaded.workspace
