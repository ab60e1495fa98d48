"""The git repository that a project lies in, which may begin above its folder."""

from __future__ import annotations

import os

__all__ = ["path_in_repository", "repository_of"]


def repository_of(folder: str) -> str | None:
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
    above = repository_of(root)
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
