"""The tree that a YAML file is read into: JSON values with a place for each key and value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..findings import Finding, Place, Severity

__all__ = ["Document", "Path", "Positions", "Span"]

Path = tuple[str | int, ...]
"""The way from the root to a value: mapping keys and sequence indices."""


class Span(NamedTuple):
    """Line and columns of a key or value, all 1-based, the end exclusive."""

    line: int
    column: int
    end_column: int


class Positions(NamedTuple):
    """Where everything of a file stands.

    Attributes:
        keys: the span of the key of each mapping entry, by the entry's path.
        values: the span of each value, by its path.
    """

    keys: Mapping[Path, Span]
    values: Mapping[Path, Span]


@dataclass(frozen=True)
class Document:
    """One file as JSON value with positions.

    Only a finding asks where something stands, so that positions are looked for when the
    first one does: most files have none, and positions need more room than the text.

    Attributes:
        file: path relative to the workspace's root, with forward slashes.
        value: the root value: dict, list, str, int, float, bool or None.
        text: the file's text, with the line ends of Unix.
        locate: gives the positions of everything in a text that was read before.
    """

    file: str
    value: Any
    text: str = field(repr=False)
    locate: Callable[[str], Positions] = field(repr=False, compare=False)

    @cached_property
    def positions(self) -> Positions:
        """The spans of the file's keys and values."""
        return self.locate(self.text)

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The file's lines, for excerpts."""
        return tuple(self.text.split("\n"))

    def forget_text(self) -> None:
        """Lets go of the text, and of what was found in it: of many files it is a lot.

        Nothing can be said of the file any more, only its value is left.
        """
        for name in ("positions", "lines"):
            self.__dict__.pop(name, None)
        object.__setattr__(self, "text", "")
        object.__setattr__(self, "locate", _nowhere)

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
        span = self.span(path, at_key=at_key)
        lines = self.lines
        line = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
        return Finding(
            rule,
            severity,
            Place(self.file, span.line, span.column, span.end_column),
            message,
            help,
            line,
        )

    def span(self, path: Path, *, at_key: bool = False) -> Span:
        """The span of a path's key or value, or of its nearest ancestor."""
        keys, values = self.positions.keys, self.positions.values
        while True:
            if at_key and path in keys:
                return keys[path]
            if path in values:
                if isinstance(self._at(path), (dict, list)) and path in keys:
                    return keys[path]
                return values[path]
            if not path:
                return Span(1, 1, 2)
            path = path[:-1]

    def _at(self, path: Path) -> Any:
        value = self.value
        for step in path:
            value = value[step]
        return value


def _nowhere(_: str) -> Positions:
    """The positions in a file whose text is let go.

    Raises:
        ValueError: always.
    """
    raise ValueError("nothing can be found in a file whose text was let go")
