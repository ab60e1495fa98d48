"""`spec/outside-project`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/outside-project",
    severity=Severity.ERROR,
    purpose="Checks that toolcast.yaml names folders within the project only.",
    why="Nothing outside of the project is read, and nothing there is written.",
    bad="""\
# toolcast.yaml
version: 1
toolsets: [../notes]
""",
    good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
# specs/notes/toolset.yaml
title: Notes
""",
)
