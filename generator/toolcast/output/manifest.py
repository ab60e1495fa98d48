"""The manifest: what was generated, and what each tool's surface is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from toolcast_runtime.registry.surface_digest import digest_of

from ..encoders.json_text import pretty
from ..facts.mcp_definition import mcp_definition
from ..model.model import ToolSpec, Workspace

__all__ = [
    "MANIFEST",
    "digest",
    "manifest",
    "read_digests",
    "surface",
]

MANIFEST = "MANIFEST.json"


def surface(tool: ToolSpec) -> dict[str, Any]:
    """All that a model or a caller can see of a tool, wherever it is shown.

    The definition that models get, the prompt docs, the command line, and what a call must
    carry. Not in it: how the tool works (handler, timeout, service, data), to whom and
    where it is shown (clients, permission, section, order, always), which is the toolset's
    business as much as the tool's, and what is for the team alone.
    """
    spec: Mapping[str, Any] = tool.source.tree
    shown: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "summary": tool.summary,
        "description": tool.model_description,
        "when_to_use": tool.when_to_use,
        "guidance": tool.guidance,
        "parameters": tool.parameters,
        "returns": tool.returns,
        "actions": spec.get("actions"),
        "annotations": tool.annotations,
        "icons": None if tool.icons is None else list(tool.icons),
        "meta": tool.meta,
        "execution": tool.execution,
        "mcp": spec.get("mcp"),
        "cli": spec.get("cli"),
        "examples": spec.get("examples"),
        "deprecated": tool.deprecated,
        "renamed_from": list(tool.renamed_from) or None,
    }
    return {key: value for key, value in shown.items() if value is not None}


def manifest(workspace: Workspace, files: Mapping[str, bytes]) -> bytes:
    """The manifest of generated files; the same specs give the same bytes."""
    toolsets = {
        toolset.name: {tool.name: _entry(tool) for tool in toolset.tools}
        for toolset in workspace.toolsets
    }
    digests = {path: digest(files[path]) for path in sorted(files)}
    value = {"format": 1, "files": digests, "toolsets": toolsets}
    return pretty(value).encode("utf-8")


def _entry(tool: ToolSpec) -> dict[str, Any]:
    shown = surface(tool)
    definition = mcp_definition(tool)
    return {
        "digest": digest_of(shown),
        "definition": digest_of(definition),
        "surface": shown,
    }


def digest(data: bytes) -> str:
    """`sha256:` and the hexadecimal digest."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def read_digests(data: bytes) -> dict[str, str]:
    """Path to digest of a manifest's bytes; empty when they are no manifest."""
    try:
        files = json.loads(data)["files"]
    except (ValueError, KeyError, TypeError):
        return {}
    if not isinstance(files, dict):
        return {}
    return {str(path): str(value) for path, value in files.items()}
