"""The manifest: what was generated, and what each tool's surface is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..runtime.surface_digest import digest_of
from ..spec.model import Toolset, ToolSpec, Workspace
from ..text.json_text import indented
from .kept import Output, digests_of

__all__ = [
    "BETWEEN",
    "MANIFEST",
    "entry_text",
    "manifest",
    "read_digests",
    "surface",
]

MANIFEST = "MANIFEST.json"
BETWEEN = b",\n"
"""What stands between the entries of two tools."""


def surface(tool: ToolSpec) -> dict[str, Any]:
    """All that a model or a caller can see of a tool, wherever it is shown.

    The definition that models get, the prompt docs, the command line, and what a call must
    carry. Not in it: how the tool works (handler, timeout, service, data), to whom and
    where it is shown (clients, permission, section, order, always), which is the toolset's
    business as much as the tool's, and what is for the team alone.
    """
    spec: Mapping[str, Any] = tool.document.value if tool.document else {}
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


def manifest(
    workspace: Workspace,
    files: Mapping[str, Output],
    entries: Callable[[Toolset], Sequence[bytes | memoryview]],
) -> bytes:
    """The manifest of generated files; the same specs give the same bytes.

    Args:
        entries: gives the entries of a toolset's tools, which `entry_text` makes, with
            `BETWEEN` between them, in parts.
    """
    digests = digests_of(files)
    parts: list[bytes | memoryview] = [
        b'{\n  "format": 1,\n  "files": ',
        *_table({path: digests[path] for path in sorted(digests)}),
        b',\n  "toolsets": ',
    ]
    before = "{\n"
    for toolset in workspace.toolsets:
        parts.append(f"{before}    {_text(toolset.name)}: ".encode())
        if toolset.tools:
            parts += [b"{\n", *entries(toolset), b"\n    }"]
        else:
            parts.append(b"{}")
        before = ",\n"
    parts.append(b"\n  }\n}\n" if workspace.toolsets else b"{}\n}\n")
    # At once: it is the largest of all files.
    return b"".join(parts)


def _table(digests: Mapping[str, str]) -> list[bytes | memoryview]:
    """What `indented` makes of such a table, in one call and in parts."""
    if not digests:
        return [b"{}"]
    separators = (",\n    ", ": ")
    text = json.dumps(digests, ensure_ascii=False, separators=separators).encode()
    return [b"{\n    ", memoryview(text)[1:-1], b"\n  }"]


def entry_text(tool: ToolSpec, definition: Mapping[str, Any]) -> str:
    """A tool's entry in the manifest, name and all, as it stands there.

    Args:
        definition: the tool as MCP's `tools/list` shows it.
    """
    shown = surface(tool)
    entry = {
        "digest": digest_of(shown),
        "definition": digest_of(definition),
        "surface": shown,
    }
    return f"      {_text(tool.name)}: {indented(entry, 6)}"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def read_digests(data: bytes) -> dict[str, str]:
    """Path to digest of a manifest's bytes; empty when they are no manifest."""
    try:
        files = json.loads(data)["files"]
    except (ValueError, KeyError, TypeError):
        return {}
    if not isinstance(files, dict):
        return {}
    return {str(path): str(value) for path, value in files.items()}
