"""The cases of a toolset, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..model.model import Case, Toolset, ToolSpec
from ..reading.tree import Path

__all__ = ["DeclaredCase", "Said", "cases_of", "messages_of", "same_words"]


class DeclaredCase(NamedTuple):
    """A case and its place.

    Attributes:
        case: the case.
        owner: the tool or toolset whose file it is in.
        path: where in that file.
    """

    case: Case
    owner: ToolSpec | Toolset
    path: Path


class Said(NamedTuple):
    """A message of a case, its own or one of its near misses.

    Attributes:
        same_words: the message, as it is compared with others.
        tool: the tool that is meant, or that a near miss must not lead to.
        is_near: it is a near miss.
        owner: the tool or toolset whose file it is in.
        path: where in that file.
    """

    same_words: str
    tool: str | None
    is_near: bool
    owner: ToolSpec | Toolset
    path: Path


def cases_of(toolset: Toolset) -> Iterator[DeclaredCase]:
    """The cases of its tools in their order, then those of `toolset.yaml`."""
    owners: tuple[ToolSpec | Toolset, ...] = (*toolset.tools, toolset)
    for owner in owners:
        for index, case in enumerate(owner.cases):
            yield DeclaredCase(case, owner, ("cases", index))


def messages_of(toolset: Toolset) -> Iterator[Said]:
    """Every message of every case."""
    for case, owner, path in cases_of(toolset):
        text = same_words(case.message)
        yield Said(text, case.tool, False, owner, (*path, "message"))
        for index, near in enumerate(case.near):
            yield Said(same_words(near), case.tool, True, owner, (*path, "near", index))


def same_words(message: str) -> str:
    """What messages share that differ in capitals, blanks and closing marks alone."""
    return " ".join(message.split()).rstrip(".!?").casefold()
