"""The published JSON Schemas of the spec language, with the fields that extensions add."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from ..extensions import ExtensionFailure, fields_of
from ..shipped import shipped

__all__ = ["KINDS", "SCHEMAS", "schema", "schema_text"]

KINDS = (
    "tool",
    "toolset",
    "definitions",
    "mcp_resource",
    "mcp_prompt",
    "workspace",
)
"""The files that a project is made of."""
SCHEMAS = (*KINDS, "accept", "findings", "diff")
"""What schemas are published of: those files, acceptances, and what commands print as JSON."""


def schema_text(kind: str, extensions: tuple[str, ...] = ()) -> str:
    """The JSON text of one of `SCHEMAS`.

    Raises:
        ExtensionFailure: as of `schema`.
    """
    merged = schema(kind, extensions)
    if merged == schema(kind):
        return _shipped_text(kind)
    return json.dumps(merged, indent=2, ensure_ascii=False) + "\n"


@cache
def schema(kind: str, extensions: tuple[str, ...] = ()) -> dict[str, Any]:
    """One of `SCHEMAS`; files of tools and toolsets have the fields of extensions, too.

    Raises:
        ExtensionFailure: an extension adds a field that the spec language has already, or
            one with a schema that is none.
    """
    own: dict[str, Any] = json.loads(_shipped_text(kind))
    if not extensions or kind not in ("tool", "toolset"):
        return own
    added = fields_of(extensions)
    _add(own, added.tool if kind == "tool" else added.toolset, extensions)
    if kind == "toolset":
        _add(own["properties"]["targets"], added.target_options, extensions)
    import jsonschema_rs

    try:
        jsonschema_rs.Draft202012Validator(own, retriever=_refuse)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise ExtensionFailure(
            f"the schema of a field of {', '.join(extensions)} is not valid: {reason}"
        ) from error
    return own


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")


def _add(
    node: dict[str, Any], properties: Mapping[str, Any], extensions: tuple[str, ...]
) -> None:
    for name, value in properties.items():
        if name in node["properties"]:
            names = ", ".join(extensions)
            raise ExtensionFailure(f"the field `{name}` of {names} is there already")
        node["properties"][name] = value


def _shipped_text(kind: str) -> str:
    return shipped("schemas", f"{kind}.schema.json").decode("utf-8")
