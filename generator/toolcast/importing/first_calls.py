"""First file of calls for `toolcast verify --calls`: only tools that are annotated read-only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..mcp_client.server_listing import ServerListing

CALLS_FILE = "calls.jsonl"
_VALUES: Mapping[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


def render_first_calls(listing: ServerListing) -> bytes:
    """Return a JSON line for each read-only tool; empty without such a tool.

    Arguments are only those that the schema requires. The user replaces their values.
    """
    return "".join(f"{json.dumps(call)}\n" for call in _build_calls(listing)).encode()


def _build_calls(listing: ServerListing) -> Iterator[dict[str, Any]]:
    for tool in listing.tools:
        annotations = tool.get("annotations")
        if not isinstance(annotations, dict) or not annotations.get("readOnlyHint"):
            continue
        schema = tool["inputSchema"]
        properties, required = schema.get("properties"), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            properties, required = {}, []
        arguments = {
            name: _choose_value(properties.get(name))
            for name in required
            if isinstance(name, str)
        }
        yield {"tool": tool["name"], "arguments": arguments}


def _choose_value(schema: Any) -> Any:
    """Return a value that a parameter's schema probably accepts."""
    if not isinstance(schema, dict):
        return "text"
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    types = schema.get("type")
    type_ = types[0] if isinstance(types, list) and types else types
    if type_ in ("integer", "number"):
        return schema.get("minimum", _VALUES[type_])
    return _VALUES.get(type_, "text") if isinstance(type_, str) else "text"
