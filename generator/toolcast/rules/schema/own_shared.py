"""`schema/own-shared`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...reading.tree import SHARED
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if toolset.definitions is None:
        return
    defs, shared = SHARED
    for tool in toolset.tools:
        for field in tool.schemas:
            schema = tool.source.tree[field]
            own = schema.get(defs) if isinstance(schema, dict) else None
            if isinstance(own, dict) and shared in own:
                message = "`$defs/shared` is where the shared definitions are put"
                help_ = "give this definition another name"
                yield RULE.at(tool, (field, *SHARED), message, help_, at_key=True)


RULE = Rule(
    id="schema/own-shared",
    severity=Severity.ERROR,
    purpose="Checks that no schema has a `shared` of its own beside shared definitions.",
    why=(
        "A schema gets what it uses of `definitions.yaml` under `$defs/shared`. One that has"
        " something there already would mean either of the two."
    ),
    bad="""\
parameters:
  type: object
  properties:
    price: {$ref: "#/$defs/shared"}
  $defs:
    shared: {type: number}
# definitions.yaml
money: {type: number, minimum: 0}
""",
    good="""\
parameters:
  type: object
  properties:
    price: {$ref: "#/$defs/shared/money"}
# definitions.yaml
money: {type: number, minimum: 0}
""",
    check=check,
)
