"""The same tools as documents that other generators read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

__all__ = ["write_documents"]


def write_documents(root: Path) -> tuple[Path, Path]:
    """Makes documents of the specs of a workspace.

    Args:
        root: a workspace of `specs.write_workspace`.

    Returns:
        The path of an OpenAPI 3.1 document with one operation a tool, whose body is the tool's
        parameters; and that of one JSON Schema with the same schemas as definitions.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for file in sorted((root / "specs" / "things").glob("thing_*.yaml")):
        tool = yaml.load(file.read_text("utf-8"), loader)
        words = tool["name"].split("_")
        model = "".join(word.capitalize() for word in words) + "Arguments"
        schemas[model] = tool["parameters"]
        paths[f"/tools/{tool['name']}"] = {"post": _operation(tool, model)}
    whole = {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1.0.0"},
        "servers": [{"url": "http://localhost"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }
    document, definitions = root / "openapi.json", root / "schemas.json"
    document.write_text(json.dumps(whole), "utf-8")
    definitions.write_text(json.dumps({"$defs": schemas}), "utf-8")
    return document, definitions


def _operation(tool: dict[str, Any], model: str) -> dict[str, Any]:
    body = {"schema": {"$ref": f"#/components/schemas/{model}"}}
    answer = {"schema": {"type": "string"}}
    return {
        "operationId": tool["name"],
        "summary": tool["summary"],
        "description": tool["description"],
        "tags": ["things"],
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {
            "200": {
                "description": "What was done.",
                "content": {"application/json": answer},
            }
        },
    }
