"""`handler/not-imported`, which `preflight` finds."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="handler/not-imported",
    severity=Severity.ERROR,
    purpose="Checks that every handler can be imported, with `check --preflight`.",
    why=(
        "A handler is imported by its program, and not by `check`, which reads its text: a"
        " package that is not installed, or an error at the top of a module, is found by the"
        " first caller. `--preflight` imports each in a process of its own."
    ),
    bad="",
    good="",
    can_be_suppressed=False,
)
