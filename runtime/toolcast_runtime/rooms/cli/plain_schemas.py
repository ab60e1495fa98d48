"""The schemas of a tool's parameters, with what their references name in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.definitions.tool import Tool
from ...core.validation.references import References

_MOST_REFERENCES = 20
_DEEPEST = 2


def properties_of(tool: Tool) -> dict[str, Any]:
    """The schema of each parameter of a tool, as far as it decides how a word is read."""
    references = References(tool.parameters)
    properties = tool.parameters.get("properties", {})
    return {name: _plain(references, properties[name], 0) for name in properties}


def _plain(references: References, schema: Any, depth: int) -> Any:
    """A schema without references down to a depth.

    What stands beside a reference wins over what it names: a description of its own, say.
    One that leads nowhere or round in a circle is left as it is.
    """
    for _ in range(_MOST_REFERENCES):
        if not isinstance(schema, Mapping):
            return schema
        only = schema.get("allOf")
        if isinstance(schema.get("$ref"), str):
            try:
                named = references.target(schema["$ref"])
            except LookupError:
                return schema
            beside = "$ref"
        elif isinstance(only, list) and len(only) == 1:
            named, beside = only[0], "allOf"
        else:
            break
        if not isinstance(named, Mapping):
            return schema
        schema = {**named, **{key: schema[key] for key in schema if key != beside}}
    if depth == _DEEPEST:
        return schema
    plain = dict(schema)
    if "items" in plain:
        plain["items"] = _plain(references, plain["items"], depth + 1)
    for keyword in ("anyOf", "oneOf"):
        if isinstance(plain.get(keyword), list):
            members = plain[keyword]
            plain[keyword] = [_plain(references, one, depth + 1) for one in members]
    return plain
