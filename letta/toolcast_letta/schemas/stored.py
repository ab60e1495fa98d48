"""Compute how Letta stores the schema of an MCP tool, to compare it with a spec.

Source: `normalize_mcp_schema` and `generate_tool_schema_for_mcp` of Letta 0.16.6. Letta
closes objects, adds types next to references, replaces references by their definitions,
and adds the parameter `request_heartbeat`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from ..digests import compute_digest

INJECTED_PARAMETER = "request_heartbeat"
"""The parameter that Letta adds to every tool."""

_MAX_DEPTH = 10
"""The depth of nested schemas below which Letta keeps references as they are."""
_DEFINITION_PREFIX = "#/$defs/"

Node = dict[str, Any]


def build_stored_parameters(schema: Mapping[str, Any]) -> Node:
    """Return the parameters that Letta's registry has for a tool with this schema.

    The parameter that Letta adds to every tool is not included: compare the result with
    the registry's parameters after `remove_injected`.
    """
    parameters = normalize_schema({"type": "object", "properties": {}, **schema})
    # Letta stores an empty list for a tool without required parameters.
    parameters.setdefault("required", [])
    if isinstance(parameters["properties"], dict):
        definitions = _get_definitions(parameters)
        for name, property_schema in parameters["properties"].items():
            parameters["properties"][name] = _inline_references(
                property_schema, definitions, 0
            )
    return parameters


def normalize_schema(schema: Mapping[str, Any]) -> Node:
    """Return a schema as Letta's `normalize_mcp_schema` returns it; a copy.

    Objects are closed with `additionalProperties: false`, and references get a type.
    """
    result = copy.deepcopy(dict(schema))
    definitions = _get_definitions(result)
    for node in (*definitions.values(), result):
        if isinstance(node, dict):
            _close(node, definitions)
    return result


def _get_definitions(schema: Node) -> Node:
    definitions = schema.get("$defs")
    return definitions if isinstance(definitions, dict) else {}


def remove_injected(parameters: Mapping[str, Any]) -> Node:
    """Return registered parameters without the one that Letta added."""
    result = dict(parameters)
    if isinstance(result.get("properties"), dict):
        result["properties"] = {
            name: property_schema
            for name, property_schema in result["properties"].items()
            if name != INJECTED_PARAMETER
        }
    if isinstance(result.get("required"), list):
        result["required"] = [
            name for name in result["required"] if name != INJECTED_PARAMETER
        ]
    return result


def compute_tool_digest(description: str | None, parameters: Mapping[str, Any]) -> str:
    """Return the digest of what agents see of a tool: description and parameters.

    A missing description is equal to an empty one.
    """
    return compute_digest({"description": description or "", "parameters": parameters})


def _add_type(node: Node, definitions: Node) -> None:
    """Set `type` next to a reference, unless it is set: that of the definition.

    If the definition is unknown or has no type, the type is `object`, as in Letta.
    """
    if "type" in node:
        return
    reference = node["$ref"]
    if isinstance(reference, str) and reference.startswith(_DEFINITION_PREFIX):
        definition = definitions.get(reference.split("/")[-1])
        if isinstance(definition, dict) and "type" in definition:
            node["type"] = definition["type"]
    node.setdefault("type", "object")


def _close(node: Node, definitions: Node) -> None:
    """Set `additionalProperties: false` where Letta does, in place.

    Nested objects under other keywords, such as `oneOf` or a nested `$defs`, stay open.
    """
    if node.get("type") == "object":
        node.setdefault("additionalProperties", False)
    properties = node.get("properties")
    for property_schema in properties.values() if isinstance(properties, dict) else ():
        if not isinstance(property_schema, dict):
            continue
        # Letta adds a type next to a reference, and does not follow it here.
        if "$ref" in property_schema:
            _add_type(property_schema, definitions)
            continue
        if property_schema.get("type") == "object":
            _close(property_schema, definitions)
        if property_schema.get("type") == "array":
            _close_part(property_schema.get("items"), definitions)
        options = property_schema.get("anyOf")
        for option in options if isinstance(options, list) else ():
            _close_part(option, definitions)
    items = node.get("items")
    if isinstance(items, dict) and items.get("type") == "object":
        _close(items, definitions)


def _close_part(node: Any, definitions: Node) -> None:
    if not isinstance(node, dict):
        return
    if "$ref" in node:
        _add_type(node, definitions)
    if node.get("type") == "object":
        _close(node, definitions)


def _inline_references(node: Any, definitions: Node, depth: int) -> Any:
    if depth > _MAX_DEPTH or not isinstance(node, dict):
        return node
    result = dict(node)
    reference = result.get("$ref")
    if isinstance(reference, str) and reference.startswith(_DEFINITION_PREFIX):
        definition = definitions.get(reference.split("/")[-1])
        if isinstance(definition, dict):
            del result["$ref"]
            # Keywords next to `$ref` have priority over those of the definition, as in
            # Letta.
            result = _inline_references(
                {**definition, **result}, definitions, depth + 1
            )
    if isinstance(result.get("anyOf"), list):
        options = [
            _inline_references(option, definitions, depth + 1)
            for option in result["anyOf"]
        ]
        result["anyOf"] = _merge_alternatives(options)
    if isinstance(result.get("properties"), dict):
        result["properties"] = {
            name: _inline_references(inner, definitions, depth + 1)
            for name, inner in result["properties"].items()
        }
    if "items" in result:
        result["items"] = _inline_references(result["items"], definitions, depth + 1)
    return result


def _merge_alternatives(options: list[Any]) -> list[Any]:
    """Return `anyOf` alternatives without those that Letta drops.

    Of two alternatives with the same type, Letta keeps the one with a `format`, else
    the one with at least as many keywords; it keeps both only if their formats differ.
    """
    result: list[Any] = []
    for option in options:
        if not isinstance(option, dict):
            if option not in result:
                result.append(option)
            continue
        for index, previous in enumerate(result):
            if not isinstance(previous, dict):
                continue
            if option == previous:
                break
            if option.get("type") and option["type"] == previous.get("type"):
                new_format, old_format = option.get("format"), previous.get("format")
                if new_format and old_format and new_format != old_format:
                    continue
                is_longer = new_format == old_format and len(option) >= len(previous)
                if (new_format and not old_format) or is_longer:
                    result[index] = option
                break
        else:
            result.append(option)
    return result
