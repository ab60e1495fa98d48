"""`spec/unknown-toolset`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/unknown-toolset",
    severity=Severity.ERROR,
    purpose="Checks that every listed toolset is there.",
    why="A toolset that is not found is one whose outputs would vanish.",
    bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/note]
""",
    good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
# specs/notes/toolset.yaml
title: Notes
""",
)
