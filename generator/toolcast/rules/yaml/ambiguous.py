"""`yaml/ambiguous`, found while a file is read."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="yaml/ambiguous",
    severity=Severity.ERROR,
    purpose="Checks that every unquoted word means the same to all YAML readers.",
    why=(
        "YAML 1.1 reads `no` as false, `010` as eight and `12:30` as 750; YAML 1.2"
        " does not. A country code became a boolean in an output, and nobody saw it"
        " in the spec."
    ),
    bad="""\
since: 2026-01-31
""",
    good="""\
since: "2026-01-31"
""",
)
