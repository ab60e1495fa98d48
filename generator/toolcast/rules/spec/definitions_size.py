"""`spec/definitions-size`, found while definitions are put into schemas."""

from __future__ import annotations

from ...findings import Severity
from ..rule import Rule

__all__ = ["RULE"]

RULE = Rule(
    id="spec/definitions-size",
    severity=Severity.ERROR,
    purpose="Checks that the copies of shared definitions have at most 250,000 values.",
    why=(
        "Each schema gets a copy of what it uses, so that it stands alone. A large file that"
        " many tools refer to would fill memory, disk, and every model's context."
    ),
    bad="",
    good="""\
parameters:
  type: object
  properties:
    price: {$ref: "#/$defs/shared/money"}
# definitions.yaml
money: {type: number, minimum: 0}
""",
)
