"""What clients and model providers take of texts, names and numbers of tools.

The figures are those of November 2026, of the clients' change logs and documents and of what
users report; each row names where its figure comes from. Clients that are not named here
have no limit that is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

__all__ = ["LIMITS", "ClientLimit", "Limited", "crossed", "limits_on"]


class Limited(StrEnum):
    """What is limited, and the unit that it is counted in."""

    DESCRIPTION = "description"
    """Characters of a tool's description."""
    DEFERRED_DESCRIPTION = "deferred description"
    """Characters of the description of a tool that is loaded on demand."""
    INSTRUCTIONS = "instructions"
    """Characters of a server's instructions."""
    NAME = "name"
    """Characters of a tool's name, with the prefix that the client puts before it."""
    TOOLS = "tools"
    """Tools of one request."""
    NAMESPACE = "namespace"
    """Tools of one namespace."""


class ClientLimit(NamedTuple):
    """One limit of one client or provider.

    Attributes:
        client: who has it.
        limited: what is limited.
        most: the largest number that it takes.
        is_refused: what is beyond is refused, or the tool is left out; else it is cut off.
        source: where the figure comes from.
        prefix: for names: what stands before a tool's, with `{}` for its server's name.
    """

    client: str
    limited: Limited
    most: int
    is_refused: bool
    source: str
    prefix: str = ""


LIMITS = (
    ClientLimit(
        "OpenAI",
        Limited.DESCRIPTION,
        1_024,
        True,
        "reports of 2025: `string_above_max_length`",
    ),
    ClientLimit(
        "Claude Code",
        Limited.DESCRIPTION,
        2_048,
        False,
        "its change log, 2.1.84",
    ),
    ClientLimit(
        "Claude Code (late 2026)",
        Limited.DESCRIPTION,
        4_096,
        False,
        "users' measurements, autumn 2026",
    ),
    ClientLimit(
        "Claude Code (late 2026)",
        Limited.DEFERRED_DESCRIPTION,
        16_384,
        False,
        "users' measurements, autumn 2026",
    ),
    ClientLimit(
        "Claude Code",
        Limited.INSTRUCTIONS,
        2_048,
        False,
        "its change log, 2.1.84",
    ),
    ClientLimit(
        "Claude Code",
        Limited.NAME,
        128,
        True,
        "users' reports, October 2026: the tool is left out",
        "mcp__{}__",
    ),
    ClientLimit("OpenAI", Limited.NAME, 64, True, "its API: `^[a-zA-Z0-9_-]{1,64}$`"),
    ClientLimit(
        "opencode and other clients with the prefix `server_`",
        Limited.NAME,
        64,
        True,
        "opencode#15595, awslabs/mcp#397",
        "{}_",
    ),
    ClientLimit("Gemini", Limited.NAME, 128, True, "google-genai 3.4.0"),
    ClientLimit(
        "Cursor", Limited.TOOLS, 40, True, "its forum; later versions take more"
    ),
    ClientLimit("VS Code", Limited.TOOLS, 128, True, "its documentation"),
    ClientLimit("Gemini", Limited.TOOLS, 512, True, "google-genai 3.4.0"),
    ClientLimit(
        "OpenAI",
        Limited.NAMESPACE,
        9,
        False,
        "its guide: fewer than ten functions a namespace",
    ),
)
"""Every limit, the smaller before the larger of each kind."""


def limits_on(limited: Limited) -> tuple[ClientLimit, ...]:
    """The limits on one thing."""
    return tuple(limit for limit in LIMITS if limit.limited is limited)


def crossed(
    limits: Iterable[ClientLimit], before: int, after: int
) -> list[ClientLimit]:
    """The limits that lie between two sizes, of which one is within and one beyond."""
    low, high = sorted((before, after))
    return [limit for limit in limits if low <= limit.most < high]
