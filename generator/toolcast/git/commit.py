"""Read the files of a project from a git commit, without checking it out."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Mapping, Sequence

from toolcast_runtime.core.safe_file import NotRegularFileError

from ..parsing.project_files import Entry
from .program import GitError, find_repository, run_git

_MAIN_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
# Suffixes of files that are likely to be read next: one call of git reads all of them.
_PREFETCHED = (".yaml", ".yml", ".toml")


class ShallowCloneError(Exception):
    """Shallow clone that lacks the requested commit."""

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"this clone is shallow and does not contain {reference}\n"
            "  help: run `git fetch --unshallow`; in a GitHub workflow, set `fetch-depth: 0`"
            " for actions/checkout"
        )


def resolve_commit(root: str, reference: str) -> str:
    """Return the id of the commit that a branch, a tag or another revision refers to.

    Raises:
        GitError: no such commit exists.
        ShallowCloneError: the commit is not in this shallow clone.
    """
    commit = _find_commit(root, reference)
    if commit is not None:
        return commit
    if _is_shallow(root):
        raise ShallowCloneError(reference)
    # If git or the repository is missing, this command raises a more precise error.
    run_git(root, ["rev-parse", "--git-dir"])
    raise GitError(f"`{reference}` is not a commit of this repository")


def find_merge_base(root: str, branch: str | None = None) -> str:
    """Return the id of the merge base of the current commit and a branch.

    Args:
        root: the project's folder.
        branch: the branch or another revision; default: the main branch, which is the
            remote's, or else the local `main` or `master`.

    Raises:
        GitError: the branch does not exist, or shares no history with the current commit.
        ShallowCloneError: the merge base is not in this shallow clone.
    """
    run_git(root, ["rev-parse", "--git-dir"])
    if branch is None:
        branch = _find_main_branch(root)
    commit = resolve_commit(root, branch)
    base = _read_line(root, "merge-base", commit, "HEAD")
    if base is not None:
        return base
    if _is_shallow(root):
        raise ShallowCloneError(branch)
    raise GitError(f"the current commit shares no history with {branch}")


def _find_main_branch(root: str) -> str:
    branch = next((name for name in _MAIN_BRANCHES if _find_commit(root, name)), None)
    if branch is None:
        if _is_shallow(root):
            raise ShallowCloneError("the main branch")
        if _find_commit(root, "HEAD") is None:
            raise GitError("the repository has no commit yet")
        names = ", ".join(_MAIN_BRANCHES[1:-1])
        raise GitError(f"no branch is named {names} or {_MAIN_BRANCHES[-1]}")
    return branch


def _find_commit(root: str, name: str) -> str | None:
    command = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    return _read_line(root, *command, f"{name}^{{commit}}")


def _is_shallow(root: str) -> bool:
    return _read_line(root, "rev-parse", "--is-shallow-repository") == "true"


def _read_line(root: str, *arguments: str) -> str | None:
    """Return the output line of a git command; None if it fails."""
    try:
        return run_git(root, arguments).decode("utf-8", "replace").strip()
    except GitError:
        return None


class CommitFiles:
    """The files of a commit; see `parsing.project_files.ProjectFiles`."""

    def __init__(self, root: str, commit: str) -> None:
        """Read files of a commit, below the folder of the project at `root`."""
        self._root = root
        repository = find_repository(root)
        path = "."
        if repository:
            path = os.path.relpath(os.path.realpath(root), repository)
        prefix = "" if path == "." else path.replace(os.sep, "/") + "/"
        self._tree = f"{commit}:{prefix}"
        self._folders: dict[str, Mapping[str, tuple[int, str, int]]] = {}
        self._blobs: dict[str, bytes] = {}

    def read(self, path: str, max_bytes: int) -> bytes:
        """Return the bytes of a file.

        Raises:
            NotRegularFileError: the path is a folder, a symbolic link or a submodule.
            OSError: the path does not exist, or the file has `max_bytes` bytes or more.
        """
        folder, name = posixpath.split(posixpath.normpath(path))
        entries = self._list_folder(folder)
        if name not in entries:
            raise FileNotFoundError(None, "the file does not exist in the commit", path)
        mode, blob, size = entries[name]
        if not stat.S_ISREG(mode):
            raise NotRegularFileError(
                None, "this is not a regular file in the commit", path
            )
        if size >= max_bytes:
            raise OSError(None, f"the file has {size:,} bytes in the commit", path)
        if blob not in self._blobs:
            blobs = [blob]
            for other_name, (other_mode, other_blob, other_size) in entries.items():
                is_candidate = stat.S_ISREG(other_mode) and other_size < max_bytes
                if is_candidate and other_name.endswith(_PREFETCHED):
                    blobs.append(other_blob)
            # Files with the same content share a blob, so remove duplicates.
            self._load_blobs(
                [other for other in dict.fromkeys(blobs) if other not in self._blobs]
            )
        return self._blobs[blob]

    def entries(self, folder: str) -> Sequence[Entry]:
        """Return the entries of a folder; symbolic links are not followed.

        Raises:
            OSError: the folder does not exist.
        """
        entries = self._list_folder(posixpath.normpath(folder))
        return [
            Entry(name, stat.S_ISDIR(mode), stat.S_ISLNK(mode))
            for name, (mode, _, _) in sorted(entries.items())
        ]

    def is_there(self, path: str) -> bool:
        """Return whether a path exists in the commit."""
        folder, name = posixpath.split(posixpath.normpath(path))
        try:
            return name in self._list_folder(folder)
        except OSError:
            return False

    def is_outside(self, path: str, folder: str = ".") -> bool:
        """Return whether a path is outside of a folder; symbolic links are not followed."""
        return posixpath.relpath(path, folder).startswith("..")

    def _list_folder(self, folder: str) -> Mapping[str, tuple[int, str, int]]:
        """Return the mode, blob id and size of each entry of a folder."""
        folder = "" if folder == "." else folder
        if folder not in self._folders:
            # `--full-tree`, because git would list relative to the folder in which it runs.
            command = ["ls-tree", "--full-tree", "-z", "--long", "--end-of-options"]
            try:
                output = run_git(self._root, [*command, self._tree + folder])
            except GitError as failure:
                message = "the folder does not exist in the commit"
                raise FileNotFoundError(None, message, folder) from failure
            records = output.split(b"\0")[:-1]
            self._folders[folder] = dict(map(_parse_record, records))
        return self._folders[folder]

    def _load_blobs(self, blobs: list[str]) -> None:
        stdin = "".join(f"{blob}\n" for blob in blobs).encode()
        try:
            output = run_git(self._root, ["cat-file", "--batch"], stdin)
        except GitError as failure:
            raise OSError(None, str(failure)) from failure
        for blob in blobs:
            header, _, rest = output.partition(b"\n")
            fields = header.split()
            if len(fields) != 3:
                raise OSError(None, f"git does not have the object {blob}")
            size = int(fields[2])
            self._blobs[blob], output = rest[:size], rest[size + 1 :]


def _parse_record(record: bytes) -> tuple[str, tuple[int, str, int]]:
    """Parse a record `mode type id size<TAB>name`; the size of a folder is `-`."""
    header, _, name = record.partition(b"\t")
    mode, _, blob, size = header.split()
    length = int(size) if size.isdigit() else 0
    return os.fsdecode(name), (int(mode, 8), blob.decode("ascii"), length)
