"""Tool listings as workspaces, to compare and check them like specs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..analysis.name_limits import is_tool_name
from ..mcp_client.server_listing import ServerListing
from ..model.language_fields import get_mcp_members
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.exact_json import convert_to_floats
from ..parsing.tree import Source

_TOOLSET = "tools"
"""Name and title of the toolset, because a listing has no name."""

MEMBER_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "title": str,
    "description": str,
    "inputSchema": dict,
    "outputSchema": (dict, bool),
    "annotations": dict,
    "icons": list,
    "_meta": dict,
    "execution": dict,
}
"""Types of the members of a tool in MCP. Members of other types cannot be spec fields."""


class ListingOwner(NamedTuple):
    """The toolset and the files to which changes of a listing are assigned.

    Attributes:
        toolset: the toolset's name.
        file: the file for changes of all tools without an entry in `files`.
        files: the spec files of tools by name.
    """

    toolset: str
    file: str
    files: Mapping[str, str] = {}

    def build_source(self, tool: str = "", tree: Any = None) -> Source:
        """Return the source of a tool's changes; without a name, of the whole listing.

        Args:
            tool: the tool's name.
            tree: the content of the source.
        """
        return Source(self.files.get(tool, self.file), tree=tree)


def build_list_workspace(listing: ServerListing, file: str) -> Workspace:
    """Return a workspace with one toolset that has the tools of a listing.

    Every listing is accepted. Members with a type that MCP does not allow are not fields of
    the specs, and tools with the name of an earlier tool get a number: `send (2)`.

    Args:
        listing: the listing.
        file: the file for the locations of changes.
    """
    owner = ListingOwner(_TOOLSET, file)
    definitions = index_by_name(listing.tools, "name")
    tools = tuple(
        build_tool_spec(definition, name, owner)
        for name, definition in definitions.items()
    )
    targets: Mapping[str, Any] = {"mcp": {}}
    tree: dict[str, Any] = {"name": _TOOLSET, "title": _TOOLSET, "targets": targets}
    if listing.instructions is not None:
        tree["instructions"] = listing.instructions
    toolset = Toolset(
        _TOOLSET,
        _TOOLSET,
        _TOOLSET,
        tools,
        fields=tuple(tree),
        instructions=listing.instructions,
        targets=targets,
        source=owner.build_source(tree=tree),
    )
    source = owner.build_source(tree={"version": 1, "toolsets": [_TOOLSET]})
    return Workspace("", (_TOOLSET,), (), toolsets=(toolset,), source=source)


def prepare_for_rules(workspace: Workspace) -> Workspace:
    """Return the workspace of a listing in a form that rules can check.

    Rules expect specs that have passed validation. Tools with an invalid name are removed,
    and so are members that are neither texts nor schemas. Findings have the tool's name
    instead of a file, because a listing has no lines.
    """
    (toolset,) = workspace.toolsets
    unchecked: Any = dict.fromkeys(("annotations", "icons", "meta", "execution"))
    tools = tuple(
        replace(
            tool,
            **unchecked,
            mcp_extra={},
            # `fields` names the fields that the spec sets; a named field with the value
            # None would be an explicit null.
            fields=tuple(field for field in tool.fields if field not in unchecked),
            source=Source(tool.name),
        )
        for tool in toolset.tools
        if is_tool_name(tool.name)
    )
    checked_toolset = replace(toolset, tools=tools, source=Source(_TOOLSET))
    return replace(workspace, toolsets=(checked_toolset,), source=Source(_TOOLSET))


def build_tool_spec(
    definition: Mapping[str, Any], name: str, owner: ListingOwner
) -> ToolSpec:
    """Return the spec of a tool with the members of an MCP definition.

    Members that specs do not have become `mcp.extra`.

    Args:
        definition: the MCP definition.
        name: the tool's name.
        owner: the files to which changes are assigned.
    """
    spec_fields = get_mcp_members()
    tree: dict[str, Any] = {"name": name}
    extra: dict[str, Any] = {}
    for member, value in definition.items():
        if member in spec_fields and isinstance(value, MEMBER_TYPES[member]):
            # Specs have floats, while a listing keeps the exact decimal text of numbers.
            tree[spec_fields[member]] = convert_to_floats(value)
        elif member not in spec_fields and member != "name":
            extra[member] = convert_to_floats(value)
    if extra:
        tree["mcp"] = {"extra": extra}
    values: dict[str, Any] = {field: tree.get(field) for field in spec_fields.values()}
    # A spec always has `parameters`, so a missing input schema becomes an empty schema.
    values["parameters"] = tree.get("parameters", {})
    if "icons" in tree:
        values["icons"] = tuple(tree["icons"])
    return ToolSpec(
        name,
        "",
        fields=tuple(tree),
        **values,
        mcp_extra=extra,
        source=owner.build_source(name, tree),
    )


def index_by_name(
    entries: Sequence[Mapping[str, Any]], key: str
) -> dict[str, Mapping[str, Any]]:
    """Return entries by name; an entry with the name of an earlier one gets a number.

    Args:
        entries: tools, resources, templates or prompts of a listing.
        key: the member that contains the name.
    """
    entries_by_name: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        name, number = entry[key], 1
        while name in entries_by_name:
            number += 1
            name = f"{entry[key]} ({number})"
        entries_by_name[name] = entry
    return entries_by_name
