"""`schema/invalid`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.dialects import DIALECTS, dialect_of
from ...json_schema.metaschema import problems_with_schema
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        for path, subschema in schema.subschemas.items():
            declared = subschema.get("$schema")
            if declared is not None and dialect_of(subschema) is None:
                yield RULE.at(
                    tool,
                    (field, *path, "$schema"),
                    f"the dialect `{str(declared)[:80]}` is not known",
                    f"the dialects are {', '.join(DIALECTS.values())};"
                    " without `$schema` it is 2020-12",
                )
        for path, message, help_ in problems_with_schema(schema):
            yield RULE.at(tool, (field, *path), message, help_)


RULE = Rule(
    id="schema/invalid",
    severity=Severity.ERROR,
    purpose="Checks that every schema is valid by the schema of its own dialect.",
    why=(
        "No validator and no model can be relied on to read an invalid schema. A published"
        " server said `exclusiveMinimum: true`, which newer dialects forbid: strict clients"
        " refused its whole list of tools."
    ),
    bad="""\
parameters:
  type: object
  properties:
    page: {type: integer, minimum: 0, exclusiveMinimum: true}
""",
    good="""\
parameters:
  type: object
  properties:
    page: {type: integer, exclusiveMinimum: 0}
""",
    check=check,
)
