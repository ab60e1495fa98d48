"""`letta/nested-definition`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolcast.findings import Finding, Severity
from toolcast.json_schema.graph import JsonSchema, Reference
from toolcast.model.model import Toolset, Workspace
from toolcast.reading.tree import Path
from toolcast.rules.rule import Rule

from ..schemas.stored import stored_parameters
from . import facts_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        schema = tool.schemas["parameters"]
        nested = [r for r in schema.references if _is_nested(r)]
        if not nested or not facts_of(tool).get("attached"):
            continue
        stored = stored_parameters(tool.parameters)
        for reference in nested:
            message = _misread(schema, reference, stored)
            if message:
                yield RULE.at(
                    tool,
                    ("parameters", *reference.path),
                    message,
                    "write it out here, or name a definition right below `$defs`",
                )


def _is_nested(reference: Reference) -> bool:
    """Whether it names something below a definition, as those of shared ones do."""
    is_definition = reference.text.startswith("#/$defs/")
    return (
        is_definition
        and reference.text.count("/") > _FLAT
        and reference.target is not None
    )


def _misread(schema: JsonSchema, reference: Reference, stored: Any) -> str:
    """What Letta makes of a reference that it does not follow; empty where that is right."""
    named = schema.at(reference.target or ())
    shown = _at(stored, reference.path[:-1])
    last = reference.text.rpartition("/")[2]
    if not isinstance(shown, Mapping):
        return ""
    if "$ref" not in shown:
        taken = schema.value["$defs"].get(last)
        return "" if taken == named else f"Letta takes `#/$defs/{last}` for it"
    was = schema.at(reference.path[:-1])
    kind = named.get("type") if isinstance(named, Mapping) else None
    if "type" in was or shown.get("type") in (None, kind):
        return ""
    return f"Letta says that it is an object, and not what `{reference.text}` is"


def _at(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


_FLAT = "#/$defs/name".count("/")

RULE = Rule(
    id="letta/nested-definition",
    severity=Severity.ERROR,
    purpose="Checks that Letta shows an attached tool's references as what they name.",
    why=(
        "Letta looks up the last word of a reference right below `$defs`. It does not find a"
        " shared definition there: it calls a text an object, so that the agent's calls are"
        " refused, or it takes another definition of that name."
    ),
    bad="""\
letta: {attached: true}
parameters:
  type: object
  properties: {currency: {$ref: "#/$defs/shared/currency"}}
# definitions.yaml
currency: {type: string, enum: [EUR, USD]}
""",
    good="""\
letta: {attached: true}
parameters:
  type: object
  properties: {price: {$ref: "#/$defs/shared/price"}}
# definitions.yaml
price: {type: object, properties: {amount: {type: number}}}
""",
    check=check,
)
