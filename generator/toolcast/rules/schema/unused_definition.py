"""`schema/unused-definition`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.bundling import definitions_in
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    definitions = toolset.definitions
    if definitions is None:
        return
    used: set[str] = set()
    for _, _, schema in schemas_of(toolset):
        used.update(definitions_in(schema.value))
    for name in definitions.schemas:
        if name not in used:
            message = f"no tool uses the definition `{name}`"
            yield RULE.at(definitions, (name,), message, "remove it", at_key=True)


RULE = Rule(
    id="schema/unused-definition",
    severity=Severity.WARNING,
    purpose="Checks that every shared definition is used by a tool.",
    why=(
        "Nothing checks a definition that no schema has, and whoever reads the file takes"
        " it for what tools accept."
    ),
    bad="""\
parameters:
  type: object
  properties:
    price: {type: number}
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
