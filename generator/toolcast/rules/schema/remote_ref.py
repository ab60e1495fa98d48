"""`schema/remote-ref`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import is_shared, schemas_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, field, schema in schemas_of(toolset):
        for reference in schema.references:
            # Of those in definitions `schema/definition-reference` tells.
            if not reference.is_local and not is_shared(tool, reference.path):
                yield RULE.at(
                    tool,
                    (field, *reference.path),
                    f"`{reference.text[:80]}` leads out of this schema",
                    "copy what it names into `$defs` and write `#/$defs/...`",
                )
        keyword = "id" if schema.dialect == "draft-04" else "$id"
        for path, subschema in schema.subschemas.items():
            base = subschema.get(keyword)
            is_address = isinstance(base, str) and not base.startswith("#")
            if path and is_address and not is_shared(tool, path):
                yield RULE.at(
                    tool,
                    (field, *path, keyword),
                    f"`{keyword}` gives a part of the schema an address of its own",
                    f"remove `{keyword}`; references by `#/...` need none",
                )


RULE = Rule(
    id="schema/remote-ref",
    severity=Severity.ERROR,
    purpose="Checks that every `$ref` stays within its own schema.",
    why=(
        "A reference to a file or an address would be opened by whoever reads the schema:"
        " a tool's spec could then read files and reach hosts of the machine that validates"
        " it. MCP forbids following such references."
    ),
    bad="""\
parameters:
  type: object
  properties:
    user: {$ref: "https://example.com/user.json"}
""",
    good="""\
parameters:
  type: object
  properties:
    user: {$ref: "#/$defs/user"}
  $defs:
    user: {type: string}
""",
    check=check,
)
