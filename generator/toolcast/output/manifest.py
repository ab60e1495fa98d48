"""The manifest: what was generated, and what each tool's surface is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..spec.model import ToolSpec, Workspace

__all__ = ["MANIFEST", "digest", "manifest", "read_digests", "surface"]

MANIFEST = "MANIFEST.json"


def digest(data: bytes) -> str:
    """`sha256:` and the hexadecimal digest."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def surface(tool: ToolSpec) -> dict[str, Any]:
    """All that a model or caller can see of a tool."""
    shown: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.model_description,
        "parameters": tool.parameters,
        "returns": tool.returns,
        "annotations": tool.annotations,
    }
    return {key: value for key, value in shown.items() if value is not None}


def manifest(workspace: Workspace, files: Mapping[str, bytes]) -> bytes:
    """The manifest of generated files; the same specs give the same bytes."""
    tools = {
        toolset.name: {tool.name: _entry(tool) for tool in toolset.tools}
        for toolset in workspace.toolsets
    }
    content = {
        "format": 1,
        "files": {path: digest(files[path]) for path in sorted(files)},
        "toolsets": tools,
    }
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _entry(tool: ToolSpec) -> dict[str, Any]:
    shown = surface(tool)
    canonical = json.dumps(
        shown, ensure_ascii=False, separators=(",", ":"), sort_keys=True
    )
    return {"digest": digest(canonical.encode("utf-8")), "surface": shown}


def read_digests(data: bytes) -> dict[str, str]:
    """Path to digest of a manifest's bytes; empty when they are no manifest."""
    try:
        files = json.loads(data)["files"]
    except (ValueError, KeyError, TypeError):
        return {}
    if not isinstance(files, dict):
        return {}
    return {str(path): str(value) for path, value in files.items()}
