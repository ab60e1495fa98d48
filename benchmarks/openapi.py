"""OpenAPI and JSON Schema documents of tools, for other generators."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_REFERENCES = "#/components/schemas/"


def write_documents(
    folder: Path, tools: Sequence[Mapping[str, Any]]
) -> tuple[str, str]:
    """Write an OpenAPI and a JSON Schema document with the same schemas.

    Args:
        folder: folder for both documents.
        tools: MCP definitions.

    Returns:
        The path of an OpenAPI 3.1 document with an operation per tool, whose request body is the
        input schema; and the path of a JSON Schema with the input schemas under `$defs`.
    """
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for tool in tools:
        model = _name_model(tool["name"])
        schema = dict(tool["inputSchema"])
        for keyword in ("$defs", "definitions"):
            for name, inner_schema in schema.pop(keyword, {}).items():
                schemas[model + _name_model(name)] = _relink(inner_schema, model)
        schemas[model] = _relink(schema, model)
        paths[f"/tools/{tool['name']}"] = {"post": _build_operation(tool, model)}
    api = {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1.0.0"},
        "servers": [{"url": "http://localhost"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    document, definitions = folder / "openapi.json", folder / "schemas.json"
    document.write_text(json.dumps(api), "utf-8")
    text = json.dumps({"$defs": schemas}).replace(_REFERENCES, "#/$defs/")
    definitions.write_text(text, "utf-8")
    return str(document), str(definitions)


def _name_model(name: str) -> str:
    words = name.replace("-", "_").replace(".", "_").split("_")
    return "".join(word[:1].upper() + word[1:] for word in words)


def _relink(node: Any, model: str) -> Any:
    """Return a schema whose references point to the shared `components/schemas`."""
    if isinstance(node, list):
        return [_relink(item, model) for item in node]
    if not isinstance(node, dict):
        return node
    rewritten = {k: _relink(v, model) for k, v in node.items() if k != "$schema"}
    reference = rewritten.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        rewritten["$ref"] = (
            _REFERENCES + model + _name_model(reference.rpartition("/")[2])
        )
    return rewritten


def _build_operation(tool: Mapping[str, Any], model: str) -> dict[str, Any]:
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
