"""The same tools as the documents that other generators read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["write_documents"]

_REFERENCES = "#/components/schemas/"


def write_documents(
    folder: Path, tools: Sequence[Mapping[str, Any]]
) -> tuple[str, str]:
    """Write two documents with the same schemas.

    Args:
        folder: where to.
        tools: as `tools/list` shows them.

    Returns:
        The path of an OpenAPI 3.1 document with one operation a tool, whose body is the tool's
        input schema; and that of a JSON Schema with the input schemas as definitions.
    """
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for tool in tools:
        model = _model(tool["name"])
        schema = dict(tool["inputSchema"])
        for keyword in ("$defs", "definitions"):
            for name, inner in schema.pop(keyword, {}).items():
                schemas[model + _model(name)] = _moved(inner, model)
        schemas[model] = _moved(schema, model)
        paths[f"/tools/{tool['name']}"] = {"post": _operation(tool, model)}
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1.0.0"},
        "servers": [{"url": "http://localhost"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    document, definitions = folder / "openapi.json", folder / "schemas.json"
    document.write_text(json.dumps(whole), "utf-8")
    text = json.dumps({"$defs": schemas}).replace(_REFERENCES, "#/$defs/")
    definitions.write_text(text, "utf-8")
    return str(document), str(definitions)


def _model(name: str) -> str:
    words = name.replace("-", "_").replace(".", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


def _moved(node: Any, model: str) -> Any:
    """Return the schema with references to the moved definitions."""
    if isinstance(node, list):
        return [_moved(inner, model) for inner in node]
    if not isinstance(node, dict):
        return node
    moved = {k: _moved(v, model) for k, v in node.items() if k != "$schema"}
    reference = moved.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        moved["$ref"] = _REFERENCES + model + _model(reference.rpartition("/")[2])
    return moved


def _operation(tool: Mapping[str, Any], model: str) -> dict[str, Any]:
    body = {"schema": {"$ref": _REFERENCES + model}}
    answer = {"schema": {"type": "string"}}
    return {
        "operationId": tool["name"],
        "summary": tool.get("title", tool["name"]),
        "description": tool.get("description", ""),
        "tags": ["things"],
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {
            "200": {
                "description": "What was done.",
                "content": {"application/json": answer},
            }
        },
    }
