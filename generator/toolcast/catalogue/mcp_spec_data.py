"""What the catalogue shows of resources and MCP prompts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..model.mcp.mcp_specs import PromptSpec, ResourceSpec
from ..model.model import Toolset, Workspace

__all__ = ["mcp_spec_data"]


def mcp_spec_data(workspace: Workspace) -> list[dict[str, Any]]:
    """The resources and MCP prompts of all toolsets, in their order."""
    return [
        {"toolset": number, **_spec(toolset, spec)}
        for number, toolset in enumerate(workspace.toolsets)
        for spec in toolset.mcp_specs
    ]


def _spec(toolset: Toolset, spec: ResourceSpec | PromptSpec) -> dict[str, Any]:
    facts = _of_resource(spec) if isinstance(spec, ResourceSpec) else _of_prompt(spec)
    handler = {"handler": str(spec.handler)} if spec.handler else {}
    clients = {"clients": ", ".join(spec.clients or ()) or "nobody"}
    return {
        "kind": _kind(spec),
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "clients": spec.clients,
        "facts": {
            **dict(facts),
            **handler,
            **({"uses": ", ".join(spec.uses)} if spec.uses else {}),
            **(clients if toolset.clients else {}),
            "spec": spec.source.file,
        },
    }


def _kind(spec: ResourceSpec | PromptSpec) -> str:
    is_template = isinstance(spec, ResourceSpec) and spec.uri_template is not None
    return "template" if is_template else spec.kind


def _of_resource(spec: ResourceSpec) -> Iterator[tuple[str, str]]:
    if address := spec.uri or spec.uri_template:
        yield "URI", address
    if spec.mime_type:
        yield "media type", spec.mime_type
    for name, values in spec.variables.items():
        yield f"{{{name}}}", f"one of {', '.join(values)}"
    if spec.file:
        yield "file", spec.file


def _of_prompt(spec: PromptSpec) -> Iterator[tuple[str, str]]:
    for one in spec.arguments:
        parts = ["required" if one.required else "optional"]
        parts += [f"one of {', '.join(one.enum)}"] if one.enum else []
        parts += [one.description] if one.description else []
        yield f"{{{{{one.name}}}}}", "; ".join(parts)
