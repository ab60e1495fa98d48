"""Find the git program and the repository, and run git without the project's programs."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence


def find_repository(folder: str) -> str | None:
    """Return the nearest folder at or above `folder` that contains `.git`, or None.

    `.git` is a file in work trees and submodules.
    """
    folder = os.path.realpath(folder)
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def path_in_repository(root: str) -> str:
    """Return the path of a project in its repository, with a final slash.

    The path is empty for the repository's own folder, and outside of a repository. In GitHub
    Actions the repository is GITHUB_WORKSPACE, even without `.git`, or a folder of it that is
    a repository of its own. A folder whose `.git` is a file is a submodule, whose files
    GitHub does not show in the outer repository.
    """
    project = os.path.realpath(root)
    repository = find_repository(root)
    checkout = os.environ.get("GITHUB_WORKSPACE")
    if checkout and os.path.isabs(checkout):
        checkout = os.path.realpath(checkout)
        is_nested_repository = (
            repository is not None
            and os.path.isdir(os.path.join(repository, ".git"))
            and repository.startswith(checkout + os.sep)
        )
        is_in_checkout = os.path.commonpath([checkout, project]) == checkout
        if is_in_checkout and not is_nested_repository:
            repository = checkout
    path = os.path.relpath(project, repository) if repository is not None else "."
    return "" if path == "." else path.replace(os.sep, "/") + "/"


_TIMEOUT_S = 5
# Settings that prevent git from running hooks and helper programs, and from using the
# network.
_SETTINGS = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=" + os.devnull,
    "core.sshCommand=false",
    "core.gitProxy=false",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


class GitError(Exception):
    """Failure to run git, or of git itself; the message is git's own if it has one."""


def run_git(root: str, arguments: Sequence[str], stdin: bytes = b"") -> bytes:
    """Run git and return its standard output.

    Args:
        root: the project's folder, in which git runs.
        arguments: a read-only subcommand and its arguments.
        stdin: the bytes for git's standard input.

    Raises:
        GitError: git is not installed, the project is not in a repository, or git fails
            or exceeds the timeout.
    """
    real = os.path.realpath(root)
    git, path = _find_program(real)
    if git is None:
        raise GitError("git is not installed")
    repository = find_repository(root)
    if repository is None:
        raise GitError("the project is not in a git repository")
    if _has_special_files(repository):
        raise GitError("the repository's `.git` folder contains special files")
    import subprocess

    # Variables such as GIT_DIR and GIT_EXEC_PATH would redirect git to other files.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("GIT_")
    }
    settings = (*_SETTINGS, f"safe.directory={repository}")
    # Without GIT_DIR, git would use a project folder that looks like a bare repository.
    location = {
        "GIT_DIR": os.path.join(repository, ".git"),
        "GIT_WORK_TREE": repository,
    }
    command = [git, "--no-pager", "--literal-pathspecs"]
    for setting in settings:
        command += ["-c", setting]
    try:
        # Ruff's S603 does not apply: there is no shell, and git is outside of the project.
        process = subprocess.run(  # noqa: S603
            [*command, *arguments],
            cwd=root,
            env={
                **environment,
                **_ENVIRONMENT,
                **location,
                "PATH": path,
                "LC_ALL": "C",
            },
            input=stdin,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise GitError(f"git cannot be run: {error}") from error
    if process.returncode != 0:
        message = process.stderr.decode("utf-8", "replace").strip()
        raise GitError(message or f"git exited with status {process.returncode}")
    return process.stdout


def _has_special_files(repository: str) -> bool:
    """Return whether `.git` contains pipes or devices, on which git could block."""
    path = os.path.join(repository, ".git")
    try:
        if not stat.S_ISDIR(os.stat(path).st_mode):
            return not stat.S_ISREG(os.stat(path).st_mode)
        with os.scandir(path) as entries:
            modes = [entry.stat().st_mode for entry in entries]
    except OSError:
        return True
    return not all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)


def _find_program(root: str) -> tuple[str | None, str]:
    """Return the path of git, and a PATH without relative folders and project folders.

    The path is None, and PATH is "", if git is not in such a folder.
    """
    folders = [
        folder
        for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(folder) and not _is_inside(root, os.path.realpath(folder))
    ]
    name = "git.exe" if os.name == "nt" else "git"
    for folder in folders:
        program = os.path.realpath(os.path.join(folder, name))
        is_executable = os.path.isfile(program) and os.access(program, os.X_OK)
        if is_executable and not _is_inside(root, program):
            return program, os.pathsep.join(folders)
    return None, ""


def _is_inside(root: str, path: str) -> bool:
    return f"{path}{os.sep}".startswith(root.rstrip(os.sep) + os.sep)
