"""`schema/multiplying`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.validation.schema_visits import MOST_WAYS

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        if schema.multiplies:
            yield RULE.at(
                tool,
                (field,),
                f"more than {MOST_WAYS:,} ways lead to one place of a value",
                "let fewer alternatives name the same definition",
            )


_FAN = "".join(
    f"    a{n}: {{anyOf: [{{$ref: '#/$defs/a{n + 1}'}}, {{$ref: '#/$defs/a{n + 1}'}}]}}\n"
    for n in range(17)
)

RULE = Rule(
    id="schema/multiplying",
    severity=Severity.ERROR,
    purpose="Checks that references do not multiply beyond what a validator can follow.",
    why=(
        "Seventeen definitions that each name the next one twice fit on a page and make"
        " 131,072 ways to one value. One wrong argument would stop the server for minutes;"
        " the runtime refuses such a schema, so that the tool could never be called."
    ),
    bad=f"""\
parameters:
  type: object
  properties:
    value:
      description: A value.
      $ref: "#/$defs/a0"
  $defs:
{_FAN}    a17: {{type: string}}
""",
    good="""\
parameters:
  type: object
  properties:
    value:
      description: A value.
      $ref: "#/$defs/a0"
  $defs:
    a0: {anyOf: [{$ref: '#/$defs/a1'}, {type: integer}]}
    a1: {type: string}
""",
    check=check,
)
