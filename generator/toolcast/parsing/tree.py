"""The result of reading a file: a JSON value, and the position of each part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ..findings import Finding, Location, Severity
from .characters import decoded

Path = tuple[str | int, ...]
"""The way from the root to a value: mapping keys and sequence indices."""

SHARED: Path = ("$defs", "shared")
"""Where a schema has the shared definitions that it uses."""

_SCALAR, _COLLECTION = 2, 3
"""How many marks stand before what is in a value: start, end, and where to go on."""


class Span(NamedTuple):
    """Line and columns of a key or value, all 1-based, the end exclusive."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """One file, and where its keys and values stand.

    Attributes:
        file: path relative to the workspace's root, with forward slashes.
        data: the bytes that were read.
        tree: the value that they hold; the marks are counted along it.
        marks: offsets into the text. A value has the offsets of its start and its end; a
            mapping or sequence then has the index of the first mark behind it, and what
            is in it: values, each of a mapping's after the start and end of its key.
        shared: where a tool's schemas have their shared definitions from.
        above: the workspace's definitions, of a toolset's own.
    """

    file: str
    data: bytes = b""
    tree: Any = None
    marks: Sequence[int] = (0, 0)
    shared: Source | None = None
    above: Source | None = None

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
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
        """A finding at the value of a path, or at its key.

        A path that the file does not have is cut back to its nearest ancestor, so that a
        missing key is reported at the mapping that lacks it.
        """
        place, line = self.located(path, at_key=at_key)
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
        """The same of an error."""
        return self.finding(rule, Severity.ERROR, path, message, help, at_key=at_key)

    def located(self, path: Path, *, at_key: bool = False) -> tuple[Location, str]:
        """The place of a path's key or value, or of its nearest ancestor, and its line."""
        home, path = self.home(path)
        span, line = home._found(path, at_key)
        return Location(home.file, *span), line

    def location(self, path: Path, *, at_key: bool = False) -> Location:
        """The place of a path's key or value, or of its nearest ancestor."""
        home, path = self.home(path)
        return Location(home.file, *home.span(path, at_key=at_key))

    def span(self, path: Path, *, at_key: bool = False) -> Span:
        """The span in this file of a path's key or value, or of its nearest ancestor."""
        return self._found(path, at_key)[0]

    @property
    def opening(self) -> str:
        """The comments that the file begins with: there a spec names its editors' schema."""
        lines = takewhile(lambda line: line.startswith(b"#"), BytesIO(self.data))
        return b"".join(lines).decode("utf-8", "replace").replace("\r\n", "\n")

    def offsets(self, path: Path, *, at_key: bool = False) -> tuple[int, int]:
        """Where a path's value, or its key, begins and ends in the text.

        The text is that of `decoded`. A block mapping or sequence ends where the parser
        goes on, which may be lines below what is in it.

        Raises:
            KeyError: the file has no such path, or asks for the key of an item.
        """
        is_there, _, mark, key = self._followed(path)
        if not is_there or (at_key and key < 0):
            raise KeyError(path)
        mark = key if at_key else mark
        return self.marks[mark], self.marks[mark + 1]

    def home(self, path: Path) -> tuple[Source, Path]:
        """The file that has a path, a shared definition's own, and the path there."""
        # The first step is the field that holds the schema.
        if self.shared is not None and path[1:3] == SHARED:
            return self.shared.home(path[3:])
        if self.above is not None and path and path[0] not in self.tree:
            return self.above, path
        return self, path

    def _found(self, path: Path, at_key: bool) -> tuple[Span, str]:
        _, value, mark, key = self._followed(path)
        # A mapping or sequence is long: its key is what a reader looks for.
        if key >= 0 and (at_key or isinstance(value, (dict, list))):
            mark = key
        return span_in(_text(self.data), self.marks[mark], self.marks[mark + 1])

    def _followed(self, path: Path) -> tuple[bool, Any, int, int]:
        """Whether the path is there; as far as it goes, its value and the marks of that.

        The second mark is that of the value's key; -1 for an item and the root.
        """
        value, mark, key = self.tree, 0, -1
        for step in path:
            if isinstance(value, dict) and step in value:
                key = key_mark(value, self.marks, mark, step)
                mark = key + _SCALAR
            elif (
                isinstance(value, list) and isinstance(step, int) and step < len(value)
            ):
                key, mark = -1, _item_mark(value, self.marks, mark, step)
            else:
                return False, value, mark, key
            value = value[step]
        return True, value, mark, key


NOWHERE = Source("")
"""The source of what was not read from a file."""


class Document(NamedTuple):
    """A file's value, and where it comes from."""

    value: Any
    source: Source


def span_in(text: str, start: int, end: int) -> tuple[Span, str]:
    """The span of a part of a text, cut at the end of its first line, and that line."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    last = len(text) if last < 0 else last
    column = start - first + 1
    end_column = max(min(end, last) - first + 1, column + 1)
    return Span(text.count("\n", 0, start) + 1, column, end_column), text[first:last]


def key_mark(
    value: Mapping[str, Any], marks: Sequence[int], mark: int, key: str | int
) -> int:
    """The index of the mark of a mapping's key, where the mapping's own is known."""
    here = mark + _COLLECTION
    for name, inner in value.items():
        if name == key:
            return here
        here = _behind(inner, marks, here + _SCALAR)
    raise KeyError(key)


def _item_mark(value: list[Any], marks: Sequence[int], mark: int, index: int) -> int:
    here = mark + _COLLECTION
    for inner in value[:index]:
        here = _behind(inner, marks, here)
    return here


def _behind(value: Any, marks: Sequence[int], mark: int) -> int:
    """The index of the first mark behind a value."""
    return marks[mark + 2] if isinstance(value, (dict, list)) else mark + _SCALAR


# Of many findings in one file each would decode it again.
_text = lru_cache(maxsize=8)(decoded)
