"""`spec/document`; `documents/filling.py` finds it."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]


RULE = Rule(
    id="spec/document",
    severity=Severity.ERROR,
    purpose="Checks that each of the `documents` is a Markdown file of the project.",
    why=(
        "The generator writes into it: through a link it could be any file, and what is not"
        " there has no region."
    ),
    bad="",
    good="",
)
