"""A project as a commit has it: its files are asked of git, and nothing is checked out."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Mapping, Sequence

from toolcast_runtime.core.safe_file import NoRegularFile

from ..parsing.project_files import Entry
from .program import GitFailure, find_repository, run_git

_MAIN = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
_NAMES_ONLY = (".yaml", ".yml", ".toml")


class ShallowClone(Exception):
    """The repository has only its last commits, and what is asked for is not among them.

    The text says so, and what helps.
    """

    def __init__(self, asked: str) -> None:
        super().__init__(
            f"this clone is shallow and has not {asked}\n"
            "  help: `git fetch --unshallow`; in a GitHub workflow, `fetch-depth: 0` of"
            " actions/checkout"
        )


def resolve_commit(root: str, reference: str) -> str:
    """The id of the commit that a branch, a tag or another expression of git names.

    Raises:
        GitFailure: there is none.
        ShallowClone: there is none here, and the clone has only a part of the history.
    """
    commit = _commit(root, reference)
    if commit is not None:
        return commit
    if _is_shallow(root):
        raise ShallowClone(reference)
    # Without git, or outside of a repository, its own words say more.
    run_git(root, ["rev-parse", "--git-dir"])
    raise GitFailure(f"`{reference}` is no commit of this repository")


def find_merge_base(root: str) -> str:
    """The id of the last commit that the current one has in common with the main branch.

    The main branch is the remote's, else `main` or `master`.

    Raises:
        GitFailure: there is no such branch, or nothing in common with it.
        ShallowClone: what is in common is not in this clone.
    """
    run_git(root, ["rev-parse", "--git-dir"])
    branch = next((name for name in _MAIN if _commit(root, name)), None)
    if branch is None:
        if _is_shallow(root):
            raise ShallowClone("the main branch")
        if _commit(root, "HEAD") is None:
            raise GitFailure("the repository has no commit yet")
        names = ", ".join(_MAIN[1:-1])
        raise GitFailure(f"no branch is called {names} or {_MAIN[-1]}")
    common = _line(root, "merge-base", branch, "HEAD")
    if common is not None:
        return common
    if _is_shallow(root):
        raise ShallowClone(branch)
    raise GitFailure(f"the current commit has nothing in common with {branch}")


def _commit(root: str, name: str) -> str | None:
    words = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    return _line(root, *words, f"{name}^{{commit}}")


def _is_shallow(root: str) -> bool:
    return _line(root, "rev-parse", "--is-shallow-repository") == "true"


def _line(root: str, *words: str) -> str | None:
    """What git answers in a line; None where it has no answer."""
    try:
        return run_git(root, words).decode("utf-8", "replace").strip()
    except GitFailure:
        return None


class CommitFiles:
    """See `reading.project_files.ProjectFiles`; no path of a commit leads out of it."""

    def __init__(self, root: str, commit: str) -> None:
        """The files that a commit has below the folder of the project at `root`."""
        self._root = root
        above = find_repository(root)
        path = os.path.relpath(os.path.realpath(root), above) if above else "."
        below = "" if path == "." else path.replace(os.sep, "/") + "/"
        self._tree = f"{commit}:{below}"
        self._folders: dict[str, Mapping[str, tuple[int, str, int]]] = {}
        self._blobs: dict[str, bytes] = {}

    def read(self, path: str, most: int) -> bytes:
        """The first bytes of a file.

        Raises:
            NoRegularFile: a folder, a link or a submodule stands there.
            OSError: nothing stands there, or it is larger than `most`.
        """
        folder, name = posixpath.split(posixpath.normpath(path))
        here = self._folder(folder)
        if name not in here:
            raise FileNotFoundError(None, "there is no such file in the commit", path)
        mode, blob, size = here[name]
        if not stat.S_ISREG(mode):
            raise NoRegularFile(None, "this is no regular file in the commit", path)
        if size >= most:
            raise OSError(None, f"it has {size:,} bytes in the commit", path)
        if blob not in self._blobs:
            # One question for all that is likely to be read next.
            self._ask(
                [
                    other
                    for neighbour, (kind, other, length) in here.items()
                    if stat.S_ISREG(kind)
                    and length < most
                    and (other == blob or neighbour.endswith(_NAMES_ONLY))
                    and other not in self._blobs
                ]
            )
        return self._blobs[blob]

    def entries(self, folder: str) -> Sequence[Entry]:
        """What a folder has; a link is no folder, wherever it leads.

        Raises:
            OSError: there is no such folder.
        """
        here = self._folder(posixpath.normpath(folder))
        return [
            Entry(name, stat.S_ISDIR(mode), stat.S_ISLNK(mode))
            for name, (mode, _, _) in sorted(here.items())
        ]

    def is_there(self, path: str) -> bool:
        """Whether the commit has anything there."""
        folder, name = posixpath.split(posixpath.normpath(path))
        try:
            return name in self._folder(folder)
        except OSError:
            return False

    def leads_out(self, path: str, folder: str = ".") -> bool:
        """Whether a path begins above a folder; links are not followed at all."""
        return posixpath.relpath(path, folder).startswith("..")

    def _folder(self, folder: str) -> Mapping[str, tuple[int, str, int]]:
        """The mode, blob and size of each name."""
        folder = "" if folder == "." else folder
        if folder not in self._folders:
            # Else git looks for the folder that it runs in below the one that is asked for.
            words = ["ls-tree", "--full-tree", "-z", "--long", "--end-of-options"]
            try:
                answer = run_git(self._root, [*words, self._tree + folder])
            except GitFailure as failure:
                message = "there is no such folder in the commit"
                raise FileNotFoundError(None, message, folder) from failure
            self._folders[folder] = dict(map(_entry, answer.split(b"\0")[:-1]))
        return self._folders[folder]

    def _ask(self, blobs: list[str]) -> None:
        given = "".join(f"{blob}\n" for blob in blobs).encode()
        try:
            answer = run_git(self._root, ["cat-file", "--batch"], given)
        except GitFailure as failure:
            raise OSError(None, str(failure)) from failure
        for blob in blobs:
            head, _, rest = answer.partition(b"\n")
            words = head.split()
            if len(words) != 3:
                raise OSError(None, f"git does not have the bytes of {blob}")
            size = int(words[2])
            self._blobs[blob], answer = rest[:size], rest[size + 1 :]


def _entry(record: bytes) -> tuple[str, tuple[int, str, int]]:
    """`mode type id size<TAB>name`; a folder has `-` as size."""
    head, _, name = record.partition(b"\t")
    mode, _, blob, size = head.split()
    length = int(size) if size.isdigit() else 0
    return os.fsdecode(name), (int(mode, 8), blob.decode("ascii"), length)
