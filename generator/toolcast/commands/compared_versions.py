"""Both sides of a comparison of a project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from ..findings import Finding, has_errors
from ..git.commit import CommitFiles, ShallowCloneError, find_merge_base, resolve_commit
from ..git.program import GitError
from ..model.loading import KnownTools, load_workspace
from ..model.model import Workspace
from ..parsing.project_files import ProjectFiles
from ..project import WORKSPACE_FILE
from .exit_codes import fail, print_findings


class ComparedVersions(NamedTuple):
    """Two states of a project.

    Attributes:
        before: what the project is compared with; None where it had no toolcast.yaml.
        after: the project as it is on disk.
        against: what a person calls the first one: a reference or a folder.
        read: the findings with which both were read, before and after; none is an error.
    """

    before: Workspace | None
    after: Workspace
    against: str
    read: tuple[Sequence[Finding], Sequence[Finding]] = ((), ())


def load_versions_or_exit(root: str, against: str | None) -> ComparedVersions:
    """Both sides of a comparison; ends the program with exit code 2 where one is not there.

    Specs are loaded without rules, and what is the same on both sides is loaded once.

    Args:
        root: the folder of toolcast.yaml.
        against: what git takes for a commit, or a folder with a toolcast.yaml; default: the
            last commit in common with the main branch.
    """
    known: KnownTools = {}
    try:
        commit = find_merge_base(root) if against is None else _commit(root, against)
        after, found = _loaded(root, None, known, "the specs")
        if commit is None:
            name = against or ""
            before, was = _loaded(os.path.abspath(name), None, known, name)
            return ComparedVersions(before, after, name, (was, found))
        name = against or commit[:12]
        files = CommitFiles(root, commit)
        if not files.is_there(WORKSPACE_FILE):
            return ComparedVersions(None, after, name)
        before, was = _loaded(root, files, known, name)
        return ComparedVersions(before, after, name, (was, found))
    except ShallowCloneError as clone:
        fail(str(clone))
    except GitError as failure:
        _no_side(str(failure))


def _no_side(why: str) -> NoReturn:
    fail(f"{why}\n  help: `--against` takes a commit, a branch, or a folder")


def _commit(root: str, against: str) -> str | None:
    """The commit that is meant; None where a folder is.

    A commit comes first, as a change could add a folder that is called like a branch. None is
    called like a path that begins with a dot or at the root.
    """
    is_path = against.startswith(".") or os.path.isabs(against)
    if against and not is_path:
        try:
            return resolve_commit(root, against)
        except GitError:
            if not os.path.isdir(against):
                raise
    if not against or not os.path.isdir(against):
        _no_side(f"`{against}` is neither a commit nor a folder")
    if not os.path.lexists(os.path.join(against, WORKSPACE_FILE)):
        _no_side(f"the folder `{against}` has no {WORKSPACE_FILE}")
    if os.path.samefile(against, root):
        _no_side(f"the folder `{against}` is the project itself")
    return None


def _loaded(
    root: str, files: ProjectFiles | None, known: KnownTools, side: str
) -> tuple[Workspace, Sequence[Finding]]:
    workspace, findings = load_workspace(root, files=files, known=known)
    if workspace is None or has_errors(findings):
        print_findings(findings, "text")
        fail(f"{side} cannot be read, so nothing is compared")
    return workspace, findings
