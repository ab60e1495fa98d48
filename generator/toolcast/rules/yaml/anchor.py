"""`yaml/anchor`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/anchor",
    severity=Severity.ERROR,
    purpose="Checks that there are no anchors, aliases and merge keys.",
    why=(
        "Nine lines of aliases unfold to gigabytes, and what a reviewer sees is not"
        " what is read."
    ),
    bad="""\
title: &name Notes
description: *name
""",
    good="""\
title: Notes
description: Notes
""",
)
