"""How much of what links lead to is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """How long and how much is kept for one client, in the memory of one process.

    Attributes:
        seconds: after them a link leads nowhere.
        bytes: of all content together; what is oldest goes first.
    """

    seconds: float = 600.0
    bytes: int = 16_777_216
