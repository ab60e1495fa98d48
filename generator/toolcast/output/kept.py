"""What a run gives for a file: its bytes, or only what an earlier run knows of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

__all__ = [
    "Files",
    "Kept",
    "Output",
    "digest",
    "digests_of",
    "only_named",
    "runtime_imports",
]

# The search is for the fixed text; what stands before it on its line is asked then.
_RUNTIME = re.compile(rb"_runtime\.(\w+) import ")
_FROM = re.compile(rb"\s*from \.+")


class Kept(str):
    """A file that an earlier run wrote, and that is the same now: the digest of its bytes."""

    __slots__ = ()


Output = bytes | Kept


class Files(dict[str, Output]):
    """Files by their path; no file is digested twice. They are added, never replaced."""

    __slots__ = ("_digests",)

    def __init__(self, files: Iterable[tuple[str, Output]] = ()) -> None:
        super().__init__(files)
        self._digests: dict[str, str] = {}

    def digests(self) -> Mapping[str, str]:
        """The digest of each file by its path."""
        if len(self._digests) < len(self):
            for path, data in self.items():
                if path not in self._digests:
                    self._digests[path] = digest(data)
        return self._digests


def digest(data: Output) -> str:
    """`sha256:` and the hexadecimal digest."""
    if isinstance(data, Kept):
        return data
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digests_of(files: Mapping[str, Output]) -> Mapping[str, str]:
    """The digest of each file by its path."""
    if isinstance(files, Files):
        return files.digests()
    return {path: digest(data) for path, data in files.items()}


def runtime_imports(path: str, data: bytes) -> list[str]:
    """The modules of the runtime that a generated file imports."""
    if not path.endswith(".py"):
        return []
    names = set()
    for found in _RUNTIME.finditer(data):
        start = found.start()
        if _FROM.fullmatch(data, data.rfind(b"\n", 0, start) + 1, start):
            names.add(found[1].decode())
    return sorted(names)


def only_named(files: Mapping[str, Output]) -> Files:
    """The files by their digests alone, so that their bytes can be let go."""
    digests = digests_of(files)
    return Files(zip(digests, map(Kept, digests.values()), strict=True))
