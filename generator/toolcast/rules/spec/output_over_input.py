"""`spec/output-over-input`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/output-over-input",
    severity=Severity.ERROR,
    purpose="Checks that no specs, templates or handlers are in the output folder.",
    why="The generator owns its output folder: what else is in it is in its way.",
    bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
output: specs
""",
    good="""\
# toolcast.yaml
version: 1
toolsets: [specs/notes]
output: generated
# specs/notes/toolset.yaml
title: Notes
""",
)
