"""The tree that a YAML file is read into: JSON values with a place for each key and value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..findings import Finding, Place, Severity

__all__ = ["Document", "Path", "Span"]

Path = tuple[str | int, ...]
"""The way from the root to a value: mapping keys and sequence indices."""


@dataclass(frozen=True, slots=True)
class Span:
    """Line and columns of a key or value, all 1-based, the end exclusive."""

    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Document:
    """One file as JSON value with positions.

    Attributes:
        file: path relative to the workspace's root, with forward slashes.
        value: the root value: dict, list, str, int, float, bool or None.
        keys: the span of the key of each mapping entry, by the entry's path.
        values: the span of each value, by its path.
        lines: the file's lines, for excerpts.
    """

    file: str
    value: Any
    keys: Mapping[Path, Span]
    values: Mapping[Path, Span]
    lines: tuple[str, ...]

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
        line = self.lines[span.line - 1] if 0 < span.line <= len(self.lines) else ""
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
        while True:
            if at_key and path in self.keys:
                return self.keys[path]
            if path in self.values:
                if isinstance(self._at(path), (dict, list)) and path in self.keys:
                    return self.keys[path]
                return self.values[path]
            if not path:
                return Span(1, 1, 2)
            path = path[:-1]

    def _at(self, path: Path) -> Any:
        value = self.value
        for step in path:
            value = value[step]
        return value
