"""`handler/not-set`, which `preflight` finds."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="handler/not-set",
    severity=Severity.WARNING,
    purpose="Checks that a start would find its variables, with `check --preflight`.",
    why=(
        "Without the token of every client, or a key, a server for other machines does not"
        " start; without those of an external server its tools are missing."
    ),
    bad="",
    good="",
    can_be_suppressed=False,
)
