"""What a pack knows of many tools at a time, column by column."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress
from typing import Any

from .stored import Section, length_of, part_of

__all__ = ["FileColumns", "TextColumn"]

_MOST_FRESH = 8
"""The texts apart are less than this part of all, or all are written again."""


def _table(section: Section, kinds: Sequence[type]) -> list[list[Any]]:
    """Columns of equal lengths, each of values of one type.

    Raises:
        ValueError: these are none.
    """
    if not section:
        return [[] for _ in kinds]
    table = json.loads(bytes(section))
    if not isinstance(table, list) or [list] * len(kinds) != list(map(type, table)):
        raise ValueError("this is no table of a pack")
    for column, kind in zip(table, kinds, strict=True):
        if len(column) != len(table[0]) or not set(map(type, column)) <= {kind}:
            raise ValueError("this is no table of a pack")
    return table


class TextColumn:
    """One text of each of many tools, with the same bytes between any two.

    Most are in one text, in order; those that changed since it was written stand apart, so
    that it need not be written, or even read, in every run.

    Args:
        between: the bytes between any two.
        table: the tools, and the length of the text of each.
        texts: the one text.
        fresh: the texts apart, by tool, as JSON.

    Attributes:
        names: the tools whose texts are in the one text.
        now: the texts that this run made.
    """

    def __init__(
        self,
        between: bytes,
        table: Section = b"",
        texts: Section = b"",
        fresh: Section = b"",
    ) -> None:
        self._between = between
        self._table, self._texts = table, texts
        self.names: list[str]
        self.names, lengths = _table(table, (str, int))
        gaps = (length + len(between) for length in lengths)
        self._starts = [0, *accumulate(gaps)]
        size = max(0, self._starts[-1] - len(between))
        if min(lengths, default=0) < 0 or size != length_of(texts):
            raise ValueError("a pack has other texts than it says")
        apart: Mapping[str, str] = json.loads(bytes(fresh)) if fresh else {}
        self._fresh = {name: text.encode("utf-8") for name, text in apart.items()}
        self.now: dict[str, bytes] = {}
        self._order: list[str] = []

    @cached_property
    def _places(self) -> dict[str, int]:
        return dict(zip(self.names, range(len(self.names)), strict=True))

    def asked_for(self, names: list[str]) -> None:
        """Notes in which order the texts are asked for."""
        if len(names) > len(self._order):
            self._order = names

    def known(self) -> set[str]:
        """The tools of which an earlier run kept the text."""
        return {*self.names, *self._fresh}

    def earlier(self, name: str) -> bytes | None:
        """The text that an earlier run kept of a tool; None without one."""
        if name in self._fresh:
            return self._fresh[name]
        at = self._places.get(name)
        if at is None:
            return None
        return part_of(self._texts, *self._span(at))

    def _span(self, at: int) -> tuple[int, int]:
        return self._starts[at], self._starts[at + 1] - len(self._between)

    def parts(self, names: list[str]) -> list[bytes | memoryview]:
        """What makes up the texts of tools, in order and with the bytes between, in parts."""
        if names != self.names:
            return [self._between.join(self._each(names))]
        apart, all_ = {**self._fresh, **self.now}, memoryview(self._all())
        parts: list[bytes | memoryview]
        parts, done = [], 0
        for place in sorted(self._places[name] for name in apart.keys() & names):
            start, end = self._span(place)
            parts += [all_[done:start], apart[names[place]]]
            done = end
        return [*parts, all_[done:]]

    def _all(self) -> bytes:
        size = max(0, self._starts[-1] - len(self._between))
        return part_of(self._texts, 0, size)

    def packed(self, unchanged: Collection[str]) -> tuple[Section, Section, bytes]:
        """Table, texts and texts apart for the next run.

        Args:
            unchanged: the tools of which what an earlier run kept still holds.
        """
        held = {*unchanged, *self.now}
        apart = {**self._fresh, **self.now}
        size = sum(map(len, apart.values()))
        if (
            apart.keys() <= set(self.names) <= held
            and size * _MOST_FRESH <= self._starts[-1]
        ):
            values = {name: text.decode("utf-8") for name, text in apart.items()}
            return self._table, self._texts, json.dumps(values).encode("ascii")
        names = [n for n in dict.fromkeys([*self._order, *self.names]) if n in held]
        texts = self._each(names)
        table = json.dumps([names, list(map(len, texts))]).encode("ascii")
        return table, self._between.join(texts), b"{}"

    def _each(self, names: list[str]) -> list[bytes | memoryview]:
        """The text of each of the tools."""
        apart = {**self._fresh, **self.now}
        all_ = memoryview(b"" if apart.keys() >= set(names) else self._all())
        return [
            (
                apart[name]
                if name in apart
                else all_[slice(*self._span(self._places[name]))]
            )
            for name in names
        ]


class FileColumns:
    """One file of each of many tools: where it is, and what it imports.

    Attributes:
        names: the tools.
        paths: the paths of their files.
    """

    def __init__(self, section: Section = b"") -> None:
        self._section = section
        self.names: list[str]
        self.paths: list[str]
        self.names, self.paths, self._imports = _table(section, (str, str, str))

    def keep(self, names: Collection[str]) -> None:
        """Forgets all tools but these."""
        stay = list(map(names.__contains__, self.names))
        if not all(stay):
            self._section = b""
            for column in (self.names, self.paths, self._imports):
                column[:] = compress(column, stay)

    def imports(self, names: Collection[str]) -> set[str]:
        """What any file of these tools imports."""
        found = compress(self._imports, map(names.__contains__, self.names))
        return {name for words in set(found) for name in words.split()}

    def set(self, name: str, path: str, imports: Sequence[str]) -> None:
        """Notes the file of a tool that was made in this run."""
        row = (name, path, " ".join(imports))
        columns = (self.names, self.paths, self._imports)
        if self._section and name in self.names:
            at = self.names.index(name)
            if row == (name, self.paths[at], self._imports[at]):
                return
            for column in columns:
                del column[at]
        self._section = b""
        for column, value in zip(columns, row, strict=True):
            column.append(value)

    def packed(self) -> Section:
        """The columns for the next run."""
        if self._section:
            return self._section
        return json.dumps([self.names, self.paths, self._imports]).encode("ascii")
