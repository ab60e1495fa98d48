"""Imports of tool lists by the command line, and the specs that they write."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.program import run_toolcast
from toolcast.analysis.mcp_definitions import build_mcp_definition
from toolcast.importing.plan import ImportPlan, plan_import
from toolcast.importing.python_server import PythonServer, ServerFunction
from toolcast.importing.server_process import describe, find_factory, find_server
from toolcast.importing.source_file import parse_source
from toolcast.mcp_client.server_listing import ServerListing
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset, Workspace
from toolcast.refactoring.writing import write_edit
from toolcast_runtime.fastmcp.registrations import record_registrations

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


def describe_module(reference: str, *folders: Path) -> PythonServer:
    """Describe the server of a module in these folders, which this process imports."""
    module = reference.partition(":")[0]
    known = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch, record_registrations() as registrations:
        for folder in folders:
            patch.syspath_prepend(folder)
        try:
            found = find_factory(find_server(reference), module, registrations)
            members = describe(found, module, registrations)
        finally:
            for name in set(sys.modules) - known:
                file = getattr(sys.modules[name], "__file__", None) or ""
                if any(Path(file).is_relative_to(folder) for folder in folders):
                    del sys.modules[name]
    functions = tuple(ServerFunction(**item) for item in members["functions"])
    return PythonServer(**{**members, "module": module, "functions": functions})


def patch_server(
    patch: pytest.MonkeyPatch, root: Path, reference: str, listing: ServerListing
) -> None:
    """Let commands use these lists, and describe the module in this process."""
    reader = "toolcast.mcp_client.read_server.read_server"
    describer = "toolcast.importing.python_server.describe_python_server"
    patch.setattr(reader, lambda *_, **options: listing)
    patch.setattr(describer, lambda _: describe_module(reference, root))


def import_module(root: Path, reference: str, listing: ServerListing) -> str:
    """Import a module with known lists into the toolset `shop`, without other processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch_server(patch, root, reference, listing)
        return run_import(root, "--python", reference, "--toolset", "shop")


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
