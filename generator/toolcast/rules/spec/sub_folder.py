"""`spec/sub-folder`, found while specs are looked for."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/sub-folder",
    severity=Severity.ERROR,
    purpose="Checks that no spec lies in a sub-folder of a toolset, where nothing reads it.",
    why=(
        "The specs of a toolset lie side by side. One that was moved into a sub-folder"
        " would be gone in silence, and its outputs with it."
    ),
    bad="""\
# specs/example/drafts/other.yaml
summary: Does something else.
""",
    good="""\
# specs/example/other.yaml
summary: Does something else.
""",
)
