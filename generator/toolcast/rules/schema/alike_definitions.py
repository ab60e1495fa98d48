"""`schema/alike-definitions`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

_TEXTS = frozenset(["title", "description", "$comment", "examples"])
_MOST_COMPARED = 200
_FEWEST_PARTS = 5
_ALIKE = 0.8


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    definitions = toolset.definitions
    if definitions is None:
        return
    before: dict[str, frozenset[str]] = {}
    first: dict[frozenset[str], str] = {}
    for name, schema in definitions.schemas.items():
        parts = frozenset(_parts(schema))
        other = first.setdefault(parts, name)
        if other != name:
            message = f"`{name}` allows what `{other}` does"
            help_ = "keep one, and refer to it wherever the other is meant"
            yield RULE.at(definitions, (name,), message, help_, at_key=True)
            continue
        if len(before) < _MOST_COMPARED:
            near = next((n for n in before if _are_alike(before[n], parts)), None)
            if near is not None:
                message = f"`{name}` is nearly the same as `{near}`"
                help_ = (
                    "make them one, or suppress this in toolset.yaml with the reason"
                )
                yield RULE.at(definitions, (name,), message, help_, at_key=True)
            before[name] = parts


def _parts(schema: Any) -> Iterator[str]:
    """What a schema says, piece by piece, without its texts."""
    waiting: list[tuple[str, Any]] = [("", schema)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            is_named = path.endswith("/properties")
            waiting += [
                (f"{path}/{key}", inner)
                for key, inner in value.items()
                if is_named or key not in _TEXTS
            ]
        else:
            yield f"{path}={json.dumps(value, sort_keys=True, default=str)}"


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    both = len(one & other)
    return both >= _FEWEST_PARTS and both >= _ALIKE * len(one | other)


RULE = Rule(
    id="schema/alike-definitions",
    severity=Severity.WARNING,
    purpose="Checks that no two shared definitions are the same, or nearly so.",
    why=(
        "Definitions are shared so that a thing is said once. Of two that are alike one is"
        " changed and the other is forgotten."
    ),
    bad="""\
parameters:
  type: object
  properties:
    price: {$ref: "#/$defs/shared/price"}
    refund: {$ref: "#/$defs/shared/amount"}
# definitions.yaml
price: {description: What it costs., type: number, minimum: 0}
amount: {description: What is paid back., type: number, minimum: 0}
""",
    good="""\
parameters:
  type: object
  properties:
    price: {description: What it costs., $ref: "#/$defs/shared/amount"}
    refund: {description: What is paid back., $ref: "#/$defs/shared/amount"}
# definitions.yaml
amount: {type: number, minimum: 0}
""",
    check=check,
)
