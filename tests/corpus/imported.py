"""Specs of lists of tools, as `toolcast import` writes them."""

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
    """A workspace with one toolset a list; `lists` has JSON texts by toolset name."""
    for name, text in lists.items():
        # By itself: what the toolsets before it hold need not be checked again.
        with TemporaryDirectory() as empty:
            source = parse_source(text.encode(), name)
            edit = plan_import(Workspace(empty, (), ()), source, name).edit
        for path, data in edit.after.items():
            if path != WORKSPACE_FILE and data is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_bytes(data)
        toolset = root / "specs" / name / "toolset.yaml"
        given = "".join(["targets:\n", *(f"  {target}: {{}}\n" for target in targets)])
        toolset.write_text(toolset.read_text("utf-8").replace(_TARGETS, given), "utf-8")
    folders = json.dumps([f"specs/{name}" for name in lists])
    (root / WORKSPACE_FILE).write_text(f"version: 1\ntoolsets: {folders}\n", "utf-8")


def import_tools(
    root: Path,
    name: str,
    tools: Sequence[Mapping[str, Any]],
    targets: Sequence[str] = ("mcp", "registry"),
) -> None:
    """A workspace with one toolset, of these tools."""
    import_lists(root, {name: json.dumps(tools)}, targets)
