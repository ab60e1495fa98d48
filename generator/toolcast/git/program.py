"""Asks git, and nothing that a project names: where the repository is, which program runs."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence


def find_repository(folder: str) -> str | None:
    """The nearest folder at or above `folder` that has `.git`; None if none has.

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
    """The path of a project within its repository, with slashes and one at its end.

    Empty where both are the same folder, and outside of any repository. Under GitHub the
    repository is checked out in GITHUB_WORKSPACE, where it may lie without `.git`, or in a
    folder of it. What is a file there is a submodule's, whose files GitHub does not show.
    """
    real = os.path.realpath(root)
    above = find_repository(root)
    checkout = os.environ.get("GITHUB_WORKSPACE")
    if checkout and os.path.isabs(checkout):
        checkout = os.path.realpath(checkout)
        is_own = above is not None and os.path.isdir(os.path.join(above, ".git"))
        is_within = above is not None and above.startswith(checkout + os.sep)
        if os.path.commonpath([checkout, real]) == checkout and not (
            is_own and is_within
        ):
            above = checkout
    path = os.path.relpath(real, above) if above is not None else "."
    return "" if path == "." else path.replace(os.sep, "/") + "/"


_SECONDS = 5
_SETTINGS = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=" + os.devnull,
    "core.sshCommand=false",
    "core.gitProxy=false",
    "credential.helper=",
    "protocol.allow=never",
)
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


class GitFailure(Exception):
    """Git gives no answer; the text says why, in git's words where it has any."""


def run_git(root: str, words: Sequence[str], given: bytes = b"") -> bytes:
    """What git prints.

    Args:
        root: the project's folder, where git runs.
        words: a subcommand that only reads, and its arguments.
        given: what git reads from its input.

    Raises:
        GitFailure: there is no git or no repository, it takes too long, or it refuses.
    """
    real = os.path.realpath(root)
    git, path = _program(real)
    if git is None:
        raise GitFailure("git is not installed")
    if find_repository(root) is None:
        raise GitFailure("the project is in no git repository")
    if _would_wait(root):
        raise GitFailure("the repository's own folder has what is no file")
    import subprocess

    kept = {name: v for name, v in os.environ.items() if not name.startswith("GIT_")}
    settings = (*_SETTINGS, f"safe.directory={find_repository(root) or real}")
    command = [git, "--no-pager", "--literal-pathspecs"]
    command += [word for setting in settings for word in ("-c", setting)]
    try:
        done = subprocess.run(  # noqa: S603  # without a shell; the program is none of the project's
            [*command, *words],
            cwd=root,
            env={**kept, **_ENVIRONMENT, "PATH": path, "LC_ALL": "C"},
            input=given,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise GitFailure(f"git does not answer: {error}") from error
    if done.returncode != 0:
        message = done.stderr.decode("utf-8", "replace").strip()
        raise GitFailure(message or f"git ended with {done.returncode}")
    return done.stdout


def _would_wait(root: str) -> bool:
    """Whether git would open a pipe, or what is worse, in the repository's own folder."""
    repository = find_repository(root)
    if repository is None:
        return False
    place = os.path.join(repository, ".git")
    try:
        if not stat.S_ISDIR(os.stat(place).st_mode):
            return not stat.S_ISREG(os.stat(place).st_mode)
        with os.scandir(place) as found:
            modes = [entry.stat().st_mode for entry in found]
    except OSError:
        return True
    return not all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes)


def _program(root: str) -> tuple[str | None, str]:
    """Git, and the search path without what is relative or lies in the project."""
    places = [
        place
        for place in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if os.path.isabs(place) and not _is_below(root, os.path.realpath(place))
    ]
    name = "git.exe" if os.name == "nt" else "git"
    for place in places:
        program = os.path.realpath(os.path.join(place, name))
        is_program = os.path.isfile(program) and os.access(program, os.X_OK)
        if is_program and not _is_below(root, program):
            return program, os.pathsep.join(places)
    return None, ""


def _is_below(root: str, path: str) -> bool:
    return f"{path}{os.sep}".startswith(root.rstrip(os.sep) + os.sep)
