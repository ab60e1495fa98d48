"""What a change comes to for somebody who reads the tools."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..change import ABSENT

__all__ = ["Effect", "EffectKind"]


class EffectKind(StrEnum):
    """What an effect is about."""

    SEEN = "seen"
    """A client sees a tool that it did not, or sees it in more places, or the reverse.
    `before` and `after` are the places, by their targets."""
    MENTION = "mention"
    """A client reads of another tool in a tool's texts and does not have it, and this was not
    so before. `after` is the other tool."""
    REFUSED = "refused"
    """Clients with MCP's strict types begin or cease to refuse the list for a tool. `reader`
    is the revision; the values are the places that they refuse."""
    NAME = "name"
    """A name begins or ceases to be too long or ill-formed for a client or provider."""
    LENGTH = "length"
    """The description of a new tool is longer than a client shows or a provider takes; that of
    a tool which was there has a change that says so."""
    TOOLS = "tools"
    """The number of a client's tools crosses what the program takes that it is said to be."""
    FORM = "form"
    """A provider's form of a tool, or a framework's, loses more or less of it. The values are
    what is lost."""
    TOKENS = "tokens"
    """What a client's tools cost it. The values are estimated tokens by what they are for, as
    `facts/costs/client_costs.py` has them: upfront, names, on_demand, prompt. `tool` is
    empty."""


@dataclass(frozen=True)
class Effect:
    """One effect.

    Attributes:
        kind: what it is about.
        reader: who sees it: a client of the toolset (empty for the one caller of a toolset
            without clients), a revision of MCP, a program, a provider.
        toolset: the toolset's name.
        tool: the tool's name now, or the old one of a tool that is gone; empty where it is
            about all tools.
        before: the value before, a JSON value; ABSENT where there was none.
        after: the same for now.
        message: what somebody sees differently, lower case, names in backticks. It has
            text of specs in it: escape it for where it is printed.
        is_worse: something is lost, refused or dearer.
    """

    kind: EffectKind
    reader: str
    toolset: str
    tool: str
    message: str
    before: Any = ABSENT
    after: Any = ABSENT
    is_worse: bool = False
