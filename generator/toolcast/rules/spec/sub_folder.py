"""`spec/sub-folder`, found while specs are looked for."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/sub-folder",
    severity=Severity.ERROR,
    purpose="Checks that every spec in a sub-folder of a toolset is read.",
    why=(
        "The specs of tools may lie in sub-folders. In one whose name begins with a dot, that is"
        " a link, or that is another toolset which nobody lists, a spec would be gone in"
        " silence, and its outputs with it. Shared definitions, resources and prompts have"
        " one place."
    ),
    bad="""\
# specs/example/.drafts/other.yaml
summary: Does something else.
""",
    good="""\
# specs/example/drafts/other.yaml
summary: Does something else.
""",
)
