"""What a pack knows of many tools at a time, column by column."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, compress, pairwise
from typing import Any

__all__ = ["FileColumns", "Section", "TextColumn", "table_of"]

Section = bytes | memoryview
"""A part of a pack."""
_DIGITS = 8


def table_of(section: Section, columns: int) -> list[list[Any]]:
    """The columns of a table, of equal lengths.

    Raises:
        ValueError: it is none.
    """
    if not section:
        return [[] for _ in range(columns)]
    table = json.loads(bytes(section))
    if not isinstance(table, list) or len(table) != columns:
        raise ValueError("this is no table of a pack")
    if {list} != set(map(type, table)) or len(set(map(len, table))) != 1:
        raise ValueError("this is no table of a pack")
    return table


class TextColumn:
    """One text of each of many tools.

    Attributes:
        names: the tools of which an earlier run kept the text.
        now: the texts that this run made.
    """

    def __init__(self, section: Section = b"") -> None:
        self._section = section
        head, texts = _parted(section)
        self.names, lengths = table_of(head, 2)
        self._starts = [0, *accumulate(lengths)]
        if len(texts) != self._starts[-1]:
            raise ValueError("a pack lacks texts")
        self._texts = texts
        self._places = dict(zip(self.names, range(len(self.names)), strict=True))
        self.now: dict[str, bytes] = {}

    def earlier(self, name: str) -> bytes | None:
        """The text that an earlier run kept of a tool; None without one."""
        at = self._places.get(name)
        if at is None:
            return None
        return bytes(self._texts[self._starts[at] : self._starts[at + 1]])

    def rows(self) -> dict[str, bytes]:
        """The text of each tool, this run's before earlier ones'."""
        data = bytes(self._texts)
        texts = (data[start:end] for start, end in pairwise(self._starts))
        return {**dict(zip(self.names, texts, strict=True)), **self.now}

    def packed(self, unchanged: Collection[str]) -> Section:
        """The column for the next run.

        Args:
            unchanged: the tools of which what an earlier run kept still holds.
        """
        stays = all(self.earlier(name) == text for name, text in self.now.items())
        if stays and {*unchanged, *self.now}.issuperset(self.names):
            return self._section
        rows = self.rows()
        for name in set(self.names).difference(unchanged, self.now):
            del rows[name]
        head = json.dumps([list(rows), [len(text) for text in rows.values()]])
        return b"%0*x%b%b" % (
            _DIGITS,
            len(head),
            head.encode(),
            b"".join(rows.values()),
        )


def _parted(section: Section) -> tuple[Section, Section]:
    """The table at the beginning of a section, and the texts after it."""
    if not section:
        return b"", b""
    end = _DIGITS + int(bytes(section[:_DIGITS]), 16)
    return section[_DIGITS:end], section[end:]


class FileColumns:
    """One file of each of many tools: its path, its digest and what it imports."""

    def __init__(self, section: Section = b"") -> None:
        self._columns: Sequence[list[str]] = table_of(section, 4)
        if not all(set(map(type, column)) <= {str} for column in self._columns):
            raise ValueError("this is no table of files")

    def keep(self, names: Collection[str]) -> None:
        """Forgets all tools but these."""
        stay = list(map(names.__contains__, self._columns[0]))
        if not all(stay):
            self._columns = [list(compress(column, stay)) for column in self._columns]

    @property
    def names(self) -> list[str]:
        """The tools."""
        return self._columns[0]

    def digests(self) -> Mapping[str, str]:
        """The digest of each file by its path."""
        return dict(zip(self._columns[1], self._columns[2], strict=True))

    def imports(self) -> set[str]:
        """What any of the files imports."""
        return {name for names in set(self._columns[3]) for name in names.split()}

    def add(self, name: str, path: str, digest: str, imports: Sequence[str]) -> None:
        """Adds the file of a tool."""
        values = (name, path, digest, " ".join(imports))
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)

    def packed(self) -> bytes:
        """The columns for the next run."""
        return json.dumps(self._columns).encode("ascii")
