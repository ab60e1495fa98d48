"""`spec/unlisted-toolset`, found while toolsets are looked for."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/unlisted-toolset",
    severity=Severity.WARNING,
    purpose="Checks that toolcast.yaml lists every toolset that lies beside a listed one.",
    why=(
        "A folder that is not listed is not read: a toolset that was added by hand, or"
        " renamed, is in no output, and nothing says so."
    ),
    bad="""\
# toolcast.yaml
toolsets: [specs/example]
# specs/example/toolset.yaml
title: Example tools
# specs/other/toolset.yaml
title: Other tools
""",
    good="""\
# toolcast.yaml
toolsets: [specs/example, specs/other]
# specs/example/toolset.yaml
title: Example tools
# specs/other/toolset.yaml
title: Other tools
""",
)
