"""A list of tools as a workspace in memory, so that two lists are compared as specs are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..model.model import Toolset, ToolSpec, Workspace
from ..reading.exact_json import plain
from ..reading.tree import Source as File
from .forms import MEMBERS, Source
from .source_file import is_name_of_tool

__all__ = ["TOOLSET", "for_rules", "list_workspace"]

TOOLSET = "tools"
"""What the toolset of a list is called: it has no name of its own."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "title": (str,),
    "description": (str,),
    "inputSchema": (dict,),
    "outputSchema": (dict, bool),
    "annotations": (dict,),
    "icons": (list,),
    "_meta": (dict,),
    "execution": (dict,),
}


def list_workspace(source: Source) -> Workspace:
    """The workspace whose one toolset has the tools of a list, whatever they are.

    Nothing is refused: a member of another type than MCP's is none of the spec's fields, and
    of several tools of one name all but the first have a number behind it.
    """
    tools: dict[str, ToolSpec] = {}
    for definition in source.listing.tools:
        name, number = definition["name"], 1
        while name in tools:
            number += 1
            name = f"{definition['name']} ({number})"
        tools[name] = _tool(definition, name, source.name)
    targets: Mapping[str, Any] = {"mcp": {}}
    tree: dict[str, Any] = {"name": TOOLSET, "title": TOOLSET, "targets": targets}
    instructions = source.listing.instructions
    if instructions is not None:
        tree["instructions"] = instructions
    toolset = Toolset(
        TOOLSET,
        TOOLSET,
        TOOLSET,
        tuple(tools.values()),
        fields=tuple(tree),
        instructions=instructions,
        targets=targets,
        source=File(source.name, tree=tree),
    )
    file = File(source.name, tree={"version": 1, "toolsets": [TOOLSET]})
    return Workspace("", (TOOLSET,), (), toolsets=(toolset,), source=file)


def _tool(definition: Mapping[str, Any], name: str, file: str) -> ToolSpec:
    """The spec that says what a definition says, as far as a spec can."""
    tree: dict[str, Any] = {"name": name}
    extra: dict[str, Any] = {}
    for member, value in definition.items():
        if member in MEMBERS and isinstance(value, _TYPES[member]):
            tree[MEMBERS[member]] = plain(value)
        elif member not in MEMBERS and member != "name":
            extra[member] = plain(value)
    if extra:
        tree["mcp"] = {"extra": extra}
    icons = tree.get("icons")
    return ToolSpec(
        name,
        "",
        tree.get("parameters", {}),
        tuple(tree),
        title=tree.get("title"),
        description=tree.get("description"),
        returns=tree.get("returns"),
        annotations=tree.get("annotations"),
        icons=None if icons is None else tuple(icons),
        meta=tree.get("meta"),
        execution=tree.get("execution"),
        mcp_extra=extra,
        source=File(file, tree=tree),
    )


def for_rules(workspace: Workspace) -> Workspace:
    """The same for rules, whose findings are told by the tools' names: a list has no lines.

    Rules look at specs, whose names and members have been checked: a tool whose name no spec
    may have is left out, and of the others what is neither a text nor a schema.
    """
    (toolset,) = workspace.toolsets
    unchecked: Any = dict.fromkeys(("annotations", "icons", "meta", "execution"))
    tools = tuple(
        replace(one, **unchecked, mcp_extra={}, source=File(one.name))
        for one in toolset.tools
        if is_name_of_tool(one.name)
    )
    whole = replace(toolset, tools=tools, source=File(TOOLSET))
    return replace(workspace, toolsets=(whole,), source=File(TOOLSET))
