"""What was seen of files from outside, and how it is kept: names, numbers, nothing else."""

from __future__ import annotations

from array import array

from .fields import joined, separated, texts, with_texts

__all__ = ["ALONE", "BELOW", "LINKED", "TOP", "Folder", "Look", "Watched"]

# How a folder is looked at: alone, as the top of a tree, as that by a link, below the top.
ALONE, TOP, LINKED, BELOW = b"alone", b"top", b"linked", b"below"


class Watched:
    """What is looked at; relative paths are below the root.

    Attributes:
        files: files or folders themselves, whether they are there or not.
        folders: everything directly in these folders.
        trees: everything below these folders, apart from caches.
    """

    __slots__ = ("files", "folders", "trees")

    def __init__(self, files: list[str], folders: list[str], trees: list[str]) -> None:
        self.files = files
        self.folders = folders
        self.trees = trees

    def to_bytes(self) -> bytes:
        """All of it, as a field."""
        return joined(
            [with_texts(self.files), with_texts(self.folders), with_texts(self.trees)]
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Watched:
        """What `to_bytes` gave.

        Raises:
            ValueError: it did not give that.
        """
        files, folders, trees = map(texts, separated(data))
        return cls(files, folders, trees)


class Folder:
    """What was seen of a folder.

    Attributes:
        kind: why it is looked at.
        stamp: its own times; empty when it cannot be read, or is not there.
        below: the names of the folders in it, where those are looked at, too.
        names: of everything else in it.
        numbers: three for each name: size, time of change, time of the inode's change. What
            replaces a file, or is another kind of thing, has another inode, made later.
    """

    __slots__ = ("below", "kind", "names", "numbers", "stamp")

    def __init__(
        self,
        kind: bytes,
        stamp: bytes,
        below: list[bytes],
        names: list[bytes],
        numbers: bytes,
    ) -> None:
        self.kind = kind
        self.stamp = stamp
        self.below = below
        self.names = names
        self.numbers = numbers


class Look:
    """What was seen.

    Attributes:
        numbers: of files by their paths, of what links lead to by those of the links.
        folders: by their paths.
    """

    __slots__ = ("folders", "numbers")

    def __init__(
        self, numbers: dict[bytes, bytes], folders: dict[bytes, Folder]
    ) -> None:
        self.numbers = numbers
        self.folders = folders

    def to_bytes(self) -> bytes:
        """The look as bytes."""
        fields = [joined([*self.numbers]), joined([*self.numbers.values()])]
        for path, folder in self.folders.items():
            fields += [path, folder.kind, folder.stamp, folder.numbers]
            fields += [b"\0".join(folder.below), b"\0".join(folder.names)]
        return joined(fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> Look:
        """What `to_bytes` gave.

        Raises:
            ValueError: it did not give that.
        """
        paths, values, *fields = separated(data)
        numbers = dict(zip(separated(paths), separated(values), strict=True))
        folders = {}
        for path, kind, stamp, seen, below, names in zip(
            *[iter(fields)] * 6, strict=True
        ):
            folders[path] = Folder(kind, stamp, _split(below), _split(names), seen)
        return cls(numbers, folders)

    def newest(self) -> int:
        """The last change of any file, or folder alone, in nanoseconds since 1970."""
        times = [0]
        for folder in self.folders.values():
            seen = array("q", folder.numbers)
            times += seen[1::3]
            times += seen[2::3]
            if folder.kind == ALONE:
                times += array("q", folder.stamp)
        for one in self.numbers.values():
            times += array("q", one)[1:]
        return max(times)


def _split(names: bytes) -> list[bytes]:
    return names.split(b"\0") if names else []
