"""Servers that a toolset or a command line names, and what a toolset declares that its own lists."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolcast_runtime.core.definitions.tool import ResultForm
from toolcast_runtime.core.server_settings import ExternalServer

from ..analysis.mcp_definitions import build_mcp_definition
from ..analysis.skill_texts import build_front_matter, list_skill_owners
from ..analysis.tool_search import (
    get_served_instructions,
    get_server_tool_names,
    has_search_hints,
    list_server_tools,
    select_listed_tools,
)
from ..model.mcp_servers import McpServer
from ..model.model import Toolset, ToolSpec
from .server_listing import ListingError, ServerListing

_NEWEST = "2026-07-28"


def declared_listing(
    toolset: Toolset,
    live: ServerListing,
    client: str | None = None,
    *,
    has_skills: bool = False,
) -> ServerListing:
    """The listing of a toolset's own tools, resources and prompts, to compare a server with.

    What the revision does not have in which that was read is left out, unless the server says
    it all the same: the newest has no `execution`, in older ones an `outputSchema` is that of
    an object. What the server says otherwise at a second reading may vary.

    Args:
        toolset: whose.
        live: what the server lists.
        client: who is served; None for a server that serves everything.
        has_skills: the server lists the toolset's skills, too; their sizes are left out,
            which the specs do not say.
    """
    tools: list[Mapping[str, Any]] = []
    said = {tool["name"]: tool for tool in live.tools}
    served = None if client is None else toolset.client(client)
    others = toolset.excluded("mcp")
    if served is not None:
        hidden = (t.name for t in toolset.tools if not toolset.is_offered(t, served))
        others = others.union(hidden)
    offered = [tool for tool in toolset.tools if tool.name not in others]
    for tool in select_listed_tools(toolset, offered):
        definition = build_mcp_definition(tool, has_hints=has_search_hints(toolset))
        returns = definition.get("outputSchema")
        is_object = isinstance(returns, dict) and returns.get("type") == "object"
        unsaid = "outputSchema" if live.protocol != _NEWEST else "execution"
        if unsaid not in said.get(tool.name, ()) and not (
            unsaid == "outputSchema" and is_object
        ):
            definition.pop(unsaid, None)
        tools.append(definition)
    tools += [one.definition for one in list_server_tools(toolset, offered)]
    shown = [spec for spec in toolset.mcp_resources if _is_for(spec.clients, client)]
    resources = [spec for spec in shown if spec.uri is not None]
    templates = [spec for spec in shown if spec.uri is None]
    return ServerListing(
        toolset.name,
        live.protocol,
        instructions=get_served_instructions(toolset, offered),
        tools=tuple(tools),
        resources=(
            *(spec.mcp for spec in resources),
            *(
                _skill(owner)
                for owner in list_skill_owners(toolset)
                if has_skills and (owner is toolset or owner.name not in others)
            ),
        ),
        resource_templates=tuple(spec.mcp for spec in templates),
        prompts=tuple(
            spec.mcp for spec in toolset.mcp_prompts if _is_for(spec.clients, client)
        ),
        varying=live.varying,
    )


def _is_for(clients: tuple[str, ...] | None, client: str | None) -> bool:
    return client is None or clients is None or client in clients


def _skill(owner: Toolset | ToolSpec) -> dict[str, Any]:
    """A skill as the runtime's `skills/served_skills.py` lists it."""
    front = build_front_matter(owner)
    name = str(front["name"])
    return {
        "uri": f"skill://{name}/SKILL.md",
        "name": name,
        "mimeType": "text/markdown",
        "description": str(front["description"]),
    }


def behind(toolset: Toolset, server: McpServer) -> Toolset:
    """The toolset with the tools alone that a server answers for, as that calls them."""
    tools = [
        # The server itself knows nothing of what is sent of its results.
        replace(tool, name=server.get_server_name(tool.name), result=ResultForm())
        for tool in toolset.tools
        if toolset.proxy_of(tool) == server.name
    ]
    return replace(toolset, tools=tuple(tools), exclusions=(), targets={})


def own_part(toolset: Toolset, listing: ServerListing) -> tuple[ServerListing, int]:
    """What a toolset's server lists of its own, as `declared_listing` has it.

    Without the tools of external servers that `mcp_servers` names, whose number comes
    second, and without the sizes of skills.
    """
    own = {*get_server_tool_names(toolset), *(tool.name for tool in toolset.tools)}
    tools = [
        entry
        for entry in listing.tools
        if entry["name"] in own
        or not any(one.is_named(entry["name"]) for one in toolset.listed_servers)
    ]
    resources = [
        (
            {key: value for key, value in entry.items() if key != "size"}
            if entry["uri"].startswith("skill://")
            else entry
        )
        for entry in listing.resources
    ]
    again = listing.again
    part = replace(
        listing,
        tools=tuple(tools),
        resources=(
            tuple(resources) if "skills" in toolset.targets else listing.resources
        ),
        again=None if again is None else own_part(toolset, again)[0],
    )
    return part, len(listing.tools) - len(tools)


def command_server(line: str) -> ExternalServer:
    """The server that a command line starts, split as a POSIX shell does; none is run.

    It gets the whole environment, as in the shell that the line was typed in. `${NAME}` in
    it stands for a variable, as in `mcp_servers`.

    Raises:
        ListingError: it is empty, or a quotation in it does not end.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ListingError(f"the command is not valid: {error}") from None
    if not words:
        raise ListingError("the command is empty")
    return ExternalServer(
        words[0], command=words[0], args=tuple(words[1:]), whole_environment=True
    )


def url_server(url: str) -> ExternalServer:
    """The server at a URL.

    Raises:
        ListingError: it is no URL of HTTP.
    """
    if not url.startswith(("https://", "http://")):
        raise ListingError("the URL does not begin with https:// or http://")
    # A query or a user's part may hold a secret.
    shown = url.split("?")[0].rpartition("@")[2]
    return ExternalServer(shown, url=url)


def headers_of(words: Iterable[str]) -> dict[str, str]:
    """The headers that `--header NAME:VALUE` gives.

    Raises:
        ListingError: a word is none.
    """
    pairs = [word.partition(":") for word in words]
    if not all(name.strip() and colon for name, colon, _ in pairs):
        raise ListingError("--header is NAME:VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}
