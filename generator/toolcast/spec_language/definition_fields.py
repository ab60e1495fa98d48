"""The spec fields that definitions contain, and the defaults of all fields.

Definitions are `tools/<tool>.json` and those of resources and MCP prompts. The runtime's
generated tests compare them with the specs by `definition_fields_text`, which the runtime
ships as a file: it has neither this package nor its YAML.
"""

from __future__ import annotations

from typing import Any

from .spec_language import encode_json_lines, list_fields, load_annotated_schema

_KINDS = ("tool", "mcp_resource", "mcp_prompt")
_FILES = (*_KINDS, "toolset")
_SIGNATURE = "by `make generate` from generator/toolcast/spec_language. DO NOT EDIT."


def list_definition_members(kind: str) -> dict[str, str]:
    """Return the member of a definition that each spec field determines, by field.

    Args:
        kind: the kind of file; fields that definitions do not contain are left out.
    """
    members: dict[str, str] = {}
    for field, node in load_annotated_schema(kind)["properties"].items():
        if "definition" in node:
            members[field] = node["definition"]
        # Without the annotation `definition`, a field that the registry reads is a
        # member of the same name.
        elif "registry" in node.get("read_by", ()):
            members[field] = field
    return members


def build_definition_fields() -> dict[str, Any]:
    """Return the members of definitions and the defaults of fields, by kind of file.

    A default is the value of the annotation `absent`: a literal, or an object with
    `of`, which names another field.
    """
    return {
        "generated": _SIGNATURE,
        "members": {kind: list_definition_members(kind) for kind in _KINDS},
        "defaults": {
            kind: {
                field.dotted_path: field.node["absent"]
                for field in list_fields(kind)
                if "absent" in field.node
            }
            for kind in _FILES
        },
    }


def render_definition_fields() -> str:
    """Return the result of `build_definition_fields` as JSON text.

    Each field is on a line of its own.
    """
    return f"{encode_json_lines(build_definition_fields(), 3)}\n"
