"""A parsed file: its JSON value, and the position of each key and value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..findings import Finding, Location, Severity
from .characters import decode_text

Path = tuple[str | int, ...]
"""Object keys and array indexes from the root to a value."""

SHARED: Path = ("$defs", "shared")
"""The path of the shared definitions in a schema that refers to them."""

_SCALAR, _COLLECTION = 2, 3
"""The number of marks of a scalar and of a collection (an object or array).

A scalar has its start and end; a collection has also the index of the next mark.
"""


class Span(NamedTuple):
    """Line and columns of a key or value: 1-based, `end_column` exclusive."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """A parsed file with the positions of its keys and values.

    Attributes:
        file: path relative to the workspace root, with forward slashes.
        data: the bytes of the file.
        tree: the parsed value.
        marks: text offsets, in document order. Each value has two: start and end. An object
            or array then has the index of the first mark after it, followed by the marks of
            its items; in an object, each item's marks follow the start and end of its key.
        shared: the file with the shared definitions that this file's schemas use.
        parent: for a toolset's definitions file, the workspace's definitions file.
    """

    file: str
    data: bytes = b""
    tree: Any = None
    marks: Sequence[int] = (0, 0)
    shared: Source | None = None
    parent: Source | None = None

    @property
    def stem(self) -> str:
        """The file's name without its extension."""
        return PurePosixPath(self.file).stem

    def finding(
        self,
        rule: str,
        severity: Severity,
        path: Path,
        message: str,
        help: str = "",
        *,
        at_key: bool = False,
    ) -> Finding:
        """Return a finding at the value of a path, or at its key.

        If the path does not exist, the location is that of its nearest existing
        ancestor: a missing key is reported at the object that lacks it.
        """
        place, line = self.locate(path, at_key=at_key)
        return Finding(rule, severity, place, message, help, line)

    def error(
        self,
        rule: str,
        path: Path,
        message: str,
        help: str = "",
        *,
        at_key: bool = False,
    ) -> Finding:
        """Return a finding of severity error; see `finding`."""
        return self.finding(rule, Severity.ERROR, path, message, help, at_key=at_key)

    def locate(self, path: Path, *, at_key: bool) -> tuple[Location, str]:
        """Return the location of a path or nearest ancestor, and its line's text."""
        owner, path = self.home(path)
        span, line = owner._find_span(path, at_key)
        return Location(owner.file, *span), line

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        """Return the location of a path's value or key, or of its nearest ancestor.

        The location can be in another file; see `home`.
        """
        owner, path = self.home(path)
        return Location(owner.file, *owner.span(path, at_key=at_key))

    def span(self, path: Path, *, at_key: bool = False) -> Span:
        """Return the span, in this file, of a path's value or key, or nearest ancestor."""
        return self._find_span(path, at_key)[0]

    @property
    def opening(self) -> str:
        """The comment lines at the start of the file, which can name its schema."""
        lines = takewhile(lambda line: line.startswith(b"#"), BytesIO(self.data))
        return b"".join(lines).decode("utf-8", "replace").replace("\r\n", "\n")

    def offsets(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Return the start and end of a path's value, or its key, in the decoded text.

        A block mapping or sequence ends at the next parser event, which can be several
        lines after its last item.

        Raises:
            KeyError: the path does not exist, or the key of an array item is requested.
        """
        exists, _, mark, key = self._follow(path)
        if not exists or (at_key and key < 0):
            raise KeyError(path)
        mark = key if at_key else mark
        return self.marks[mark], self.marks[mark + 1]

    def home(self, path: Path) -> tuple[Source, Path]:
        """Return the file that contains a path, and the path in that file.

        Another file than this one contains shared definitions, which schemas refer to.
        """
        # `path[0]` is the field that contains the schema.
        if self.shared is not None and path[1:3] == SHARED:
            return self.shared.home(path[3:])
        if self.parent is not None and path and path[0] not in self.tree:
            return self.parent, path
        return self, path

    def _find_span(self, path: Path, at_key: bool) -> tuple[Span, str]:
        _, value, mark, key = self._follow(path)
        # An object or array can have hundreds of lines, so the location is that of its
        # key.
        if key >= 0 and (at_key or isinstance(value, (dict, list))):
            mark = key
        return get_span(
            _decode_cached(self.data), self.marks[mark], self.marks[mark + 1]
        )

    def _follow(self, path: Path) -> tuple[bool, Any, int, int]:
        """Follow a path as far as it exists.

        Returns:
            Whether the whole path exists, the last value, and the indexes of the marks of that
            value and of its key (-1 for an array item and the root).
        """
        value, mark, key = self.tree, 0, -1
        for step in path:
            if isinstance(value, dict) and step in value:
                key = find_key_mark(value, self.marks, mark, step)
                mark = key + _SCALAR
            elif (
                isinstance(value, list) and isinstance(step, int) and step < len(value)
            ):
                key, mark = -1, _find_item_mark(value, self.marks, mark, step)
            else:
                return False, value, mark, key
            value = value[step]
        return True, value, mark, key


NOWHERE = Source("")
"""The source of values that were not read from a file."""


class Document(NamedTuple):
    """A parsed value and its source file."""

    value: Any
    source: Source


def get_span(text: str, start: int, end: int) -> tuple[Span, str]:
    """Return the span of a text range, and the text of its first line.

    A range of several lines is cut at the end of the first one.
    """
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    last = len(text) if last < 0 else last
    column = start - first + 1
    end_column = max(min(end, last) - first + 1, column + 1)
    return Span(text.count("\n", 0, start) + 1, column, end_column), text[first:last]


def find_key_mark(
    value: Mapping[str, Any], marks: Sequence[int], mark: int, key: str | int
) -> int:
    """Return the index of a key's first mark.

    Args:
        value: the object.
        marks: the marks of the file; see `Source.marks`.
        mark: the index of the object's first mark.
        key: the key.

    Raises:
        KeyError: the object does not have the key.
    """
    current = mark + _COLLECTION
    for name, item in value.items():
        if name == key:
            return current
        current = _skip_value(item, marks, current + _SCALAR)
    raise KeyError(key)


def _find_item_mark(
    value: list[Any], marks: Sequence[int], mark: int, index: int
) -> int:
    current = mark + _COLLECTION
    for item in value[:index]:
        current = _skip_value(item, marks, current)
    return current


def _skip_value(value: Any, marks: Sequence[int], mark: int) -> int:
    """Return the index of the first mark after those of a value."""
    return marks[mark + 2] if isinstance(value, (dict, list)) else mark + _SCALAR


# Each finding in a file needs the decoded text.
_decode_cached = lru_cache(maxsize=8)(decode_text)
