"""Who may have which tool: clients, and what the entries of their lists stand for.

Patterns become the names of today's tools here, so that what is generated names each one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

__all__ = ["Client", "NameEntry", "expanded"]

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


class Client(NamedTuple):
    """Who may see and call tools. `allow` is None for every tool.

    `allow` and `restrict` are names of tools; `allow_entries` and `restrict_entries` are
    what the spec has, with its patterns. `kind` is the program or provider that it is, one of `facts.client_kinds`; with
    `approves` that program asks a person itself where a tool has a `confirm`.
    """

    name: str
    title: str = ""
    allow: tuple[str, ...] | None = ()
    restrict: tuple[str, ...] = ()
    path: str | None = None
    token_variable: str | None = None
    permissions: tuple[str, ...] = ()
    kind: str | None = None
    approves: bool = False
    allow_entries: tuple[NameEntry, ...] = ()
    restrict_entries: tuple[NameEntry, ...] = ()

    def allows(self, tool: str) -> bool:
        """Whether the client's own lists let it have a tool."""
        return tool not in self.restrict and (self.allow is None or tool in self.allow)

    def texts(self, key: str) -> list[str]:
        """A list as the spec has it, `allow` or `restrict`; `*` where `allow` has no list."""
        is_allow = key == "allow"
        if is_allow and self.allow is None:
            return ["*"]
        entries = self.allow_entries if is_allow else self.restrict_entries
        return [entry.text for entry in entries]

    def entry_for(self, key: str, tool: str) -> NameEntry | None:
        """The first entry of `allow` or `restrict` that stands for a tool."""
        is_allow = key == "allow"
        if is_allow and self.allow is None:
            return NameEntry("*", (tool,))
        entries = self.allow_entries if is_allow else self.restrict_entries
        return next((entry for entry in entries if tool in entry.names), None)

    def permits(self, permission: str | None) -> bool:
        """Whether the client has the permission that a tool needs, if it needs one."""
        return permission is None or permission in self.permissions


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
    return tuple(sorted(n for n in {*sections, *outside} if _matches(text, n)))


def _matches(pattern: str, name: str) -> bool:
    """Whether a name has a pattern's pieces in their order, each as early as can be.

    A regular expression would try every way to lay them out, for hours.
    """
    if "*" not in pattern:
        return name == pattern
    first, *pieces, last = pattern.split("*")
    if not name.startswith(first) or not name.endswith(last):
        return False
    at = len(first)
    for piece in pieces:
        found = name.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return at + len(last) <= len(name)
