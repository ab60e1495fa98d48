"""`schema/default-mismatch`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.values import ValueChecker
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        checker: ValueChecker | None = None
        for path, subschema in schema.subschemas.items():
            if "default" not in subschema:
                continue
            checker = checker or ValueChecker(
                schema,
                asserts_formats=field == "parameters" and toolset.asserts_formats,
            )
            problem = checker.problem(subschema["default"], path)
            if problem:
                yield RULE.at(
                    tool,
                    (field, *path, "default"),
                    f"the default is not valid: {problem}",
                    "a caller that sends it is refused; change the default or the"
                    " schema",
                )


RULE = Rule(
    id="schema/default-mismatch",
    severity=Severity.WARNING,
    purpose="Checks that every `default` is valid by the schema that it stands in.",
    why=(
        "Models and clients send defaults back, and the call is refused. One in six defaults"
        " of published servers is such a one, mostly `default: null` on a string."
    ),
    bad="""\
parameters:
  type: object
  properties:
    limit: {type: integer, minimum: 1, default: 0}
""",
    good="""\
parameters:
  type: object
  properties:
    limit: {type: integer, minimum: 1, default: 10}
""",
    check=check,
)
