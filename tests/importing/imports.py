"""Imports of tool lists by the command line, and the specs that they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.program import run_toolcast
from toolcast.analysis.mcp_definitions import build_mcp_definition
from toolcast.importing.plan import ImportPlan, plan_import
from toolcast.importing.source_file import parse_source
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset, Workspace
from toolcast.refactoring.writing import write_edit

Tool = dict[str, Any]


def run_import(root: Path, *arguments: str, code: int = 0) -> str:
    """Run `toolcast import`, check its exit code, and return its output."""
    return run_toolcast(root, "import", *arguments, code=code)


def import_list(
    root: Path, tools: Any, *options: str, toolset: str = "things", code: int = 0
) -> str:
    """Write a list to `list.json`, import it, and return the command's output."""
    (root / "list.json").write_text(json.dumps(tools), "utf-8")
    return run_import(root, "list.json", "--toolset", toolset, *options, code=code)


def write_import(root: Path, tools: Any, *, force: bool = False) -> ImportPlan:
    """Import tools into the toolset `things` without the command line."""
    workspace = load_workspace(str(root)).workspace or Workspace(str(root), (), ())
    source = parse_source(json.dumps(tools).encode(), "list.json")
    plan = plan_import(workspace, source, "things", force=force)
    write_edit(str(root), plan.edit)
    return plan


def make_tool(name: str, description: str = "Does it.", **members: Any) -> Tool:
    """Return a tool as `tools/list` has it."""
    schema = {"type": "object"}
    tool = {"name": name, "description": description, "inputSchema": schema}
    return {**tool, **members}


def make_tools(*names: str) -> list[Tool]:
    return [make_tool(name) for name in names]


def load_toolset(root: Path, name: str = "things") -> Toolset:
    """Return a toolset of a workspace by its name."""
    workspace = load_workspace(str(root)).workspace
    assert workspace is not None
    return next(toolset for toolset in workspace.toolsets if toolset.name == name)


def load_tools(root: Path) -> dict[str, Tool]:
    """Return the MCP definition of each tool in the toolset `things` by its name."""
    return {tool.name: build_mcp_definition(tool) for tool in load_toolset(root).tools}
