"""`spec/missing-extension`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/missing-extension",
    severity=Severity.ERROR,
    purpose="Checks that every listed extension is installed.",
    why="Without it fields are unknown, rules do not run, and outputs would vanish.",
    bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
extensions: [not-installed]
# specs/notes/toolset.yaml
title: Notes
""",
    good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
extensions: []
# specs/notes/toolset.yaml
title: Notes
""",
)
