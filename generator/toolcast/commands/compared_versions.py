"""Load the two versions of a project that a command compares."""

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
    """The old and the new version of a project.

    Attributes:
        old: the specs in the commit or folder to compare with; None if it has no
            toolcast.yaml.
        new: the specs on disk.
        old_name: the commit or folder of the old version, for messages.
        findings: the findings of loading the old and the new version, without errors.
    """

    old: Workspace | None
    new: Workspace
    old_name: str
    findings: tuple[Sequence[Finding], Sequence[Finding]] = ((), ())


def load_versions_or_exit(
    root: str, against: str | None, *, with_merge_base: bool = False
) -> ComparedVersions:
    """Load the old and the new version of a project's specs without running rules.

    A tool spec that is equal in both versions is parsed only once. Ends the program with exit
    code 2 if a version does not exist or has errors.

    Args:
        root: the folder of toolcast.yaml.
        against: a commit in any form that git accepts, or a folder with a toolcast.yaml;
            defaults to the last common commit with the main branch.
        with_merge_base: whether to compare with the last common commit of `against` and the
            current commit.
    """
    known: KnownTools = {}
    try:
        if against is None or with_merge_base:
            commit: str | None = find_merge_base(root, against)
        else:
            commit = _resolve(root, against)
        new, new_findings = _load(root, None, known, "the specs")
        # Without a commit, the value of `--against` is a folder.
        if commit is None:
            name = against or ""
            old, old_findings = _load(os.path.abspath(name), None, known, name)
            return ComparedVersions(old, new, name, (old_findings, new_findings))
        name = commit[:12] if against is None or with_merge_base else against
        files = CommitFiles(root, commit)
        if not files.is_there(WORKSPACE_FILE):
            return ComparedVersions(None, new, name)
        old, old_findings = _load(root, files, known, name)
        return ComparedVersions(old, new, name, (old_findings, new_findings))
    except ShallowCloneError as error:
        fail(str(error))
    except GitError as error:
        _fail_against(str(error))


def _fail_against(problem: str) -> NoReturn:
    fail(f"{problem}\n  help: pass a commit, a branch or a folder to `--against`")


def _resolve(root: str, against: str) -> str | None:
    """Return the commit that the value of `--against` names; None if it names a folder.

    A commit takes precedence over a folder: otherwise a change to the project could add a
    folder with the name of a branch. A value that begins with `.` or is an absolute path is
    always a folder, because git allows no such names. Ends the program with exit code 2 if
    the value is neither, or names the project itself.
    """
    is_path = against.startswith(".") or os.path.isabs(against)
    if against and not is_path:
        try:
            return resolve_commit(root, against)
        except GitError:
            if not os.path.isdir(against):
                raise
    if not against or not os.path.isdir(against):
        _fail_against(f"`{against}` is neither a commit nor a folder")
    if not os.path.lexists(os.path.join(against, WORKSPACE_FILE)):
        _fail_against(f"the folder `{against}` has no {WORKSPACE_FILE}")
    if os.path.samefile(against, root):
        _fail_against(f"the folder `{against}` is the project itself")
    return None


def _load(
    root: str, files: ProjectFiles | None, known: KnownTools, label: str
) -> tuple[Workspace, Sequence[Finding]]:
    """Load one version, or print its errors and end the program with exit code 2."""
    workspace, findings = load_workspace(root, files=files, known=known)
    if workspace is None or has_errors(findings):
        print_findings(findings, "text")
        fail(f"{label} cannot be read; nothing was compared")
    return workspace, findings
