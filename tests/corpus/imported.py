"""Workspaces with the specs that `toolcast import` writes for tool lists."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toolcast.importing.plan import plan_import
from toolcast.importing.source_file import parse_source
from toolcast.model.model import Workspace
from toolcast.project import WORKSPACE_FILE

__all__ = ["import_lists", "import_tools"]

_TARGETS = "targets:\n  mcp: {}\n  registry: {}\n  snapshots: {}\n"


def import_lists(
    root: Path, lists: Mapping[str, str], targets: Sequence[str] = ("mcp", "registry")
) -> None:
    """Write a workspace with one toolset for each JSON tool list, by toolset name."""
    for name, text in lists.items():
        # Plan in an empty workspace, so that earlier toolsets are not checked again.
        with TemporaryDirectory() as empty:
            source = parse_source(text.encode(), name)
            edit = plan_import(Workspace(empty, (), ()), source, name).edit
        for path, data in edit.after.items():
            if path != WORKSPACE_FILE and data is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(data)
        toolset = root / "specs" / name / "toolset.yaml"
        section = "".join(["targets:\n", *(f"  {name}: {{}}\n" for name in targets)])
        text = toolset.read_text("utf-8").replace(_TARGETS, section)
        toolset.write_text(text, "utf-8")
    folders = json.dumps([f"specs/{name}" for name in lists])
    (root / WORKSPACE_FILE).write_text(f"version: 1\ntoolsets: {folders}\n", "utf-8")


def import_tools(
    root: Path,
    name: str,
    tools: Sequence[Mapping[str, Any]],
    targets: Sequence[str] = ("mcp", "registry"),
) -> None:
    """Write a workspace with one toolset that has the given tools."""
    import_lists(root, {name: json.dumps(tools)}, targets)
