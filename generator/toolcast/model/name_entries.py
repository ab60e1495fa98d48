"""What the entries of a client's `allow` and `restrict` stand for: names and patterns.

Patterns become the names of today's tools here, so that what is generated names each one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["NameEntry", "expanded"]

_SECTION = "section:"


class NameEntry(NamedTuple):
    """An entry of a list: `search_code`, `search_*` or `section:search`.

    `names` are the tools that it stands for; a plain name stands for itself.
    """

    text: str
    names: tuple[str, ...]

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for what it does not name: no tool's name has such characters."""
        return "*" in self.text or ":" in self.text

    @property
    def section(self) -> str | None:
        """The section whose tools it stands for; None for a name or a pattern of names."""
        is_section = self.text.startswith(_SECTION)
        return self.text.removeprefix(_SECTION) if is_section else None


def expanded(
    texts: Iterable[str], sections: Mapping[str, str | None], outside: Sequence[str]
) -> tuple[NameEntry, ...]:
    """The entries of a list with what they stand for, patterns sorted by name.

    Args:
        texts: the list as the spec has it.
        sections: the section of each tool of the toolset, by the tool's name.
        outside: the names of external servers' tools that the toolset declares.
    """
    return tuple(NameEntry(text, _names(text, sections, outside)) for text in texts)


def _names(
    text: str, sections: Mapping[str, str | None], outside: Sequence[str]
) -> tuple[str, ...]:
    entry = NameEntry(text, (text,))
    if not entry.is_pattern:
        return entry.names
    if entry.section is not None:
        return tuple(sorted(n for n, own in sections.items() if own == entry.section))
    if not text.strip("*"):
        # `allow: "*"` says every tool; as one entry of a list it is taken for a mistake.
        return ()
    pattern = re.compile(".*".join(map(re.escape, re.split(r"\*+", text))))
    return tuple(sorted(filter(pattern.fullmatch, {*sections, *outside})))
