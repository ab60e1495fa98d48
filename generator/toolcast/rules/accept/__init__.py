"""What `toolcast diff` finds in toolcast.accept.yaml, for the catalogue."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULES"]

RULES = (
    Rule(
        id="accept/unused",
        severity=Severity.WARNING,
        purpose="Checks that every acceptance matches a change.",
        why=(
            "The change is in what the project is compared with by now, or was never made."
            " An entry that stays behind would let the next change of its kind pass unseen."
        ),
        bad="",
        good="",
        can_be_suppressed=False,
    ),
    Rule(
        id="accept/former",
        severity=Severity.WARNING,
        purpose="Checks that no acceptance names a change by what it was called formerly.",
        why="Kinds of changes have other names now. A former one is taken until 0.3.",
        bad="",
        good="",
        can_be_suppressed=False,
    ),
    Rule(
        id="accept/over",
        severity=Severity.WARNING,
        purpose="Checks that no acceptance is past its date.",
        why="Somebody had promised to decide anew by then. It accepts nothing any more.",
        bad="",
        good="",
        can_be_suppressed=False,
    ),
)
