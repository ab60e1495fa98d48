"""Normalization and validation of MCP tool schemas as in Letta 0.16.6.

Adapted from `letta/functions/schema_generator.py` and `schema_validator.py` of Letta
0.16.6 (Apache-2.0), so that the fake has the behavior of the real server.
"""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["HEARTBEAT", "compute_health", "normalize_schema", "build_stored_schema"]

HEARTBEAT = "request_heartbeat"
_HEARTBEAT_TEXT = (
    "Request an immediate heartbeat after function execution. You MUST set this value to"
    " `True` if you want to send a follow-up message or run a follow-up tool call (chain"
    " multiple tools together). If set to `False` (the default), then the chain of execution"
    " will end immediately after this function call."
)

Node = dict[str, Any]


def normalize_schema(schema: Node) -> Node:
    """Return a copy with `additionalProperties: false` and types next to references."""
    schema = copy.deepcopy(schema)
    defs = schema.get("$defs", {})
    for definition in (defs or {}).values():
        if isinstance(definition, dict):
            _normalize(definition, defs)
    return _normalize(schema, defs)


def _set_type(node: Node, defs: Node) -> None:
    if "type" in node:
        return
    if defs and node["$ref"].startswith("#/$defs/"):
        named = defs.get(node["$ref"].split("/")[-1])
        if named is not None and "type" in named:
            node["type"] = named["type"]
    node.setdefault("type", "object")


def _normalize(node: Node, defs: Node) -> Node:
    if node.get("type") == "object":
        node.setdefault("additionalProperties", False)
    for subschema in node.get("properties", {}).values():
        if "$ref" in subschema:
            _set_type(subschema, defs)
            continue
        if not isinstance(subschema, dict):
            continue
        if subschema.get("type") == "object":
            _normalize(subschema, defs)
        if subschema.get("type") == "array" and "items" in subschema:
            items = subschema["items"]
            if isinstance(items, dict):
                if "$ref" in items:
                    _set_type(items, defs)
                if items.get("type") == "object":
                    _normalize(items, defs)
        for option in subschema.get("anyOf", ()):
            if "$ref" in option:
                _set_type(option, defs)
            if isinstance(option, dict) and option.get("type") == "object":
                _normalize(option, defs)
    if isinstance(node.get("items"), dict) and node["items"].get("type") == "object":
        _normalize(node["items"], defs)
    return node


def build_stored_schema(tool: Node) -> Node:
    """Return the `json_schema` that the registry stores for a tool of `tools/list`."""
    parameters = tool.get("inputSchema") or {}
    parameters = normalize_schema(
        {**parameters, "type": parameters.get("type", "object")}
    )
    parameters.setdefault("properties", {})
    parameters.setdefault("required", [])
    defs = parameters.get("$defs", {})
    for name, inner in list(parameters["properties"].items()):
        parameters["properties"][name] = _inline_references(inner, defs, 0)
    parameters["properties"][HEARTBEAT] = {
        "type": "boolean",
        "description": _HEARTBEAT_TEXT,
    }
    if HEARTBEAT not in parameters["required"]:
        parameters["required"].append(HEARTBEAT)
    status, reasons = compute_health(parameters)
    return {
        "name": tool["name"],
        "description": tool.get("description"),
        "parameters": parameters,
        "mcp:SCHEMA_STATUS": status,
        "mcp:SCHEMA_WARNINGS": reasons,
    }


def _inline_references(node: Any, defs: Node, depth: int) -> Any:
    if depth > 10 or not isinstance(node, dict):
        return node
    result = node.copy()
    reference = result.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        named = defs.get(reference.split("/")[-1])
        if named is not None:
            del result["$ref"]
            for key, value in named.items():
                result.setdefault(key, value)
            result = _inline_references(result, defs, depth + 1)
    if "anyOf" in result:
        options = [
            _inline_references(option, defs, depth + 1) for option in result["anyOf"]
        ]
        result["anyOf"] = _remove_duplicates(options)
    if isinstance(result.get("properties"), dict):
        result["properties"] = {
            name: _inline_references(inner, defs, depth + 1)
            for name, inner in result["properties"].items()
        }
    if "items" in result:
        result["items"] = _inline_references(result["items"], defs, depth + 1)
    return result


def _remove_duplicates(options: list[Any]) -> list[Any]:
    result: list[Any] = []
    for item in options:
        if not isinstance(item, dict):
            if item not in result:
                result.append(item)
            continue
        for index, kept in enumerate(result):
            if not isinstance(kept, dict):
                continue
            if item == kept:
                break
            if item.get("type") and item.get("type") == kept.get("type"):
                item_format, kept_format = item.get("format"), kept.get("format")
                if (item_format and not kept_format) or (
                    item_format == kept_format and len(item) >= len(kept)
                ):
                    result[index] = item
                    break
                if (kept_format and not item_format) or item_format == kept_format:
                    break
        else:
            result.append(item)
    return result


def compute_health(schema: Any) -> tuple[str, list[str]]:
    """Return STRICT_COMPLIANT, NON_STRICT_ONLY or INVALID, with the reasons."""
    validator = _Validator()
    if not isinstance(schema, dict):
        return "INVALID", ["Top-level schema must be a dict"]
    if schema.get("type") != "object":
        validator.add_invalid(
            "Top-level schema 'type' must be 'object' for OpenAI tools"
        )
    validator.visit(schema, "root")
    return validator.status, validator.reasons


class _Validator:
    def __init__(self) -> None:
        self.status = "STRICT_COMPLIANT"
        self.reasons: list[str] = []

    def add_loose(self, reason: str) -> None:
        if self.status == "STRICT_COMPLIANT":
            self.status = "NON_STRICT_ONLY"
        self.reasons.append(reason)

    def add_invalid(self, reason: str) -> None:
        self.status = "INVALID"
        self.reasons.append(reason)

    def visit(self, node: Node, path: str) -> None:
        kind = node.get("type")
        if not kind:
            if "properties" in node or "additionalProperties" in node:
                kind = "object"
            elif "items" in node:
                kind = "array"
            elif not any(word in node for word in ("anyOf", "oneOf", "allOf")):
                self.add_invalid(f"{path}: Missing 'type'")
                return
        if kind == "object":
            if not self._object(node, path):
                return
        elif kind == "array":
            items = node.get("items")
            if items is None:
                self.add_invalid(
                    f"{path}: 'items' must be defined for arrays in strict mode"
                )
            elif not isinstance(items, dict):
                self.add_invalid(f"{path}: 'items' must be a schema dict for arrays")
            else:
                self.visit(items, f"{path}.items")
        elif isinstance(kind, list):
            known = ("string", "number", "integer", "boolean", "null", "array")
            for type_name in kind:
                if type_name not in (*known, "object"):
                    self.add_invalid(
                        f"{path}: Invalid type '{type_name}' in type array"
                    )
        for word in ("anyOf", "oneOf", "allOf"):
            if word not in node:
                continue
            if not isinstance(node[word], list):
                self.add_invalid(f"{path}: '{word}' must be a list")
                continue
            for index, inner in enumerate(node[word]):
                if isinstance(inner, dict):
                    self.visit(inner, f"{path}.{word}[{index}]")
                else:
                    self.add_invalid(f"{path}.{word}[{index}]: Not a valid schema dict")

    def _object(self, node: Node, path: str) -> bool:
        properties = node.get("properties")
        if properties is not None and not isinstance(properties, dict):
            self.add_invalid(f"{path}: 'properties' must be a dict for objects")
            return False
        if "additionalProperties" not in node:
            self.add_loose(f"{path}: 'additionalProperties' not explicitly set")
        elif node["additionalProperties"] is not False:
            self.add_loose(
                f"{path}: 'additionalProperties' is not false (free-form object)"
            )
        required = node.get("required")
        if required is not None and not isinstance(required, list):
            self.add_invalid(f"{path}: 'required' must be a list if present")
        for key in required if isinstance(required, list) else ():
            if not properties:
                continue
            if key not in properties:
                self.add_invalid(
                    f"{path}: required contains '{key}' not found in properties"
                )
            elif isinstance(properties[key], dict):
                if _allows_empty_object(properties[key]):
                    self.add_invalid(
                        f"{path}: required property '{key}' allows empty object"
                        " (OpenAI will reject)"
                    )
                if _allows_empty_array(properties[key]):
                    self.add_invalid(
                        f"{path}: required property '{key}' allows empty array"
                        " (OpenAI will reject)"
                    )
        for name, inner in (properties or {}).items():
            if isinstance(inner, dict):
                self.visit(inner, f"{path}.properties.{name}")
            else:
                self.add_invalid(f"{path}.properties.{name}: Not a valid schema dict")
        return True


def _allows_empty_object(node: Node) -> bool:
    return (
        node.get("type") == "object"
        and not node.get("required", [])
        and node.get("additionalProperties", True) is False
    )


def _allows_empty_array(node: Node) -> bool:
    return (
        node.get("type") == "array"
        and not node.get("minItems", 0) > 0
        and node.get("items") is None
    )
