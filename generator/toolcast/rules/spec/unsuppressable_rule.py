"""`spec/unsuppressable-rule`, found while suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/unsuppressable-rule",
    severity=Severity.ERROR,
    purpose="Checks that no suppression names a rule whose findings have to be mended.",
    why=(
        "Some rules keep a spec from deciding what code runs. Whoever proposes a spec could"
        " propose the suppression with it."
    ),
    bad="""\
handler: os:system
suppress: [{rule: handler/outside-package, reason: Trust me.}]
""",
    good="""\
title: Notes
""",
)
