"""`yaml/tag`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/tag",
    severity=Severity.ERROR,
    purpose="Checks that there are no tags.",
    why=(
        "In some readers a tag runs code. A spec holds text, numbers, lists and"
        " mappings."
    ),
    bad="""\
title: !!python/name:os.system Notes
""",
    good="""\
title: Notes
""",
)
