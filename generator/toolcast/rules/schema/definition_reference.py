"""`schema/definition-reference`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...json_schema.graph import JsonSchema
from ...model.definitions import PREFIX, Definitions, shared_name
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import schemas_of

__all__ = ["RULE"]

_NAMING = ("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor")


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    definitions = toolset.definitions
    if definitions is None:
        return
    for name, definition in definitions.schemas.items():
        yield from _in_definition(definitions, name, JsonSchema(definition))
    whole = PREFIX.rstrip("/")
    for tool, field, schema in schemas_of(toolset):
        for reference in schema.references:
            if reference.text == whole:
                message = f"`{whole}` names all shared definitions, which are no schema"
                help_ = f"name one: `{PREFIX}NAME`"
                yield RULE.at(tool, (field, *reference.path), message, help_)


def _in_definition(
    definitions: Definitions, name: str, schema: JsonSchema
) -> Iterator[Finding]:
    for reference in schema.references:
        if shared_name(reference.text) is None:
            where = (name, *reference.path)
            what = "means another thing in each tool's schema"
            what = what if reference.is_local else "leads out of the definitions"
            message = f"`{reference.text[:80]}` {what}"
            help_ = f"a definition refers to others as `{PREFIX}NAME`"
            yield RULE.at(definitions, where, message, help_)
    for path, subschema in schema.subschemas.items():
        for keyword in _NAMING:
            if isinstance(subschema.get(keyword), str | bool):
                yield RULE.at(
                    definitions,
                    (name, *path, keyword),
                    f"`{keyword}` changes what references mean where this is put in",
                    f"leave it out; tools refer to it as `{PREFIX}{name}`",
                    at_key=True,
                )


RULE = Rule(
    id="schema/definition-reference",
    severity=Severity.ERROR,
    purpose="Checks that a shared definition means the same in every schema.",
    why=(
        "A definition is put into each schema that uses it. There `#/properties/a` is"
        " whatever that schema has, and an `$id` makes references begin elsewhere."
    ),
    bad="""\
parameters:
  type: object
  properties:
    price: {$ref: "#/$defs/shared/money"}
# definitions.yaml
money:
  type: object
  properties:
    net: {$ref: "#/properties/price"}
""",
    good="""\
parameters:
  type: object
  properties:
    price: {$ref: "#/$defs/shared/money"}
# definitions.yaml
money:
  type: object
  properties:
    net: {$ref: "#/$defs/shared/amount"}
amount: {type: number}
""",
    check=check,
)
