"""`yaml/invisible-character`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/invisible-character",
    severity=Severity.WARNING,
    purpose="Checks that there are no invisible characters.",
    why=(
        "Models read them and people do not: an instruction can be hidden in a"
        " description."
    ),
    bad="""\
description: "Stores\\u200B a note."
""",
    good="""\
description: Stores a note.
""",
)
