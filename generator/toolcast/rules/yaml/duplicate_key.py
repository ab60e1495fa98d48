"""`yaml/duplicate-key`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/duplicate-key",
    severity=Severity.ERROR,
    purpose="Checks that no key stands twice in a mapping.",
    why="Most readers keep the last one and lose the first in silence.",
    bad="""\
title: Notes
title: Other notes
""",
    good="""\
title: Notes
""",
)
