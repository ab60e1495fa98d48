"""`spec/duplicate-toolset`, found while specs are loaded and suppressions are applied."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/duplicate-toolset",
    severity=Severity.ERROR,
    purpose="Checks that no two toolsets have the same name.",
    why="Both would be generated into the same folder.",
    bad="""\
# toolcast.yaml
version: 1
toolsets: [specs/one, specs/two]
# specs/one/toolset.yaml
name: notes
# specs/two/toolset.yaml
name: notes
""",
    good="""\
# toolcast.yaml
version: 1
toolsets: [specs/one, specs/two]
# specs/one/toolset.yaml
name: one
# specs/two/toolset.yaml
name: two
""",
)
