"""Server settings from the command line, and the listing that a toolset declares.

`toolcast verify` compares the declared listing with the listing of a live server.
"""

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
from .server_listing import KINDS, ListingError, ServerListing

_STATELESS_VERSION = "2026-07-28"


def build_declared_listing(
    toolset: Toolset,
    live: ServerListing,
    client: str | None = None,
    *,
    has_skills: bool,
) -> ServerListing:
    """Return the listing that a toolset's specs declare, in the form of a live one.

    A member that the live listing's protocol version does not have is left out, unless
    the server lists it nevertheless: the stateless version has no `execution`, and
    older versions accept only an `outputSchema` of type object. The live listing's
    variations are kept.

    Args:
        toolset: the toolset that declares the tools, resources and prompts.
        live: the live server's listing.
        client: the client whose listing is built; None for a server without clients.
        has_skills: whether the server also lists the toolset's skills. Their sizes are
            left out because the specs do not declare them.
    """
    live_tools = {tool["name"]: tool for tool in live.tools}
    hidden_names = set(toolset.list_excluded_tools("mcp"))
    profile = None if client is None else toolset.find_client(client)
    if profile is not None:
        hidden_names.update(
            tool.name for tool in toolset.tools if not toolset.is_offered(tool, profile)
        )
    offered = [tool for tool in toolset.tools if tool.name not in hidden_names]
    tools: list[Mapping[str, Any]] = []
    for tool in select_listed_tools(toolset, offered):
        definition = build_mcp_definition(tool, has_hints=has_search_hints(toolset))
        live_tool = live_tools.get(tool.name, {})
        if live.protocol == _STATELESS_VERSION:
            if "execution" not in live_tool:
                definition.pop("execution", None)
        elif "outputSchema" not in live_tool:
            output_schema = definition.get("outputSchema")
            is_object_schema = (
                isinstance(output_schema, dict)
                and output_schema.get("type") == "object"
            )
            if not is_object_schema:
                definition.pop("outputSchema", None)
        tools.append(definition)
    tools += [tool.definition for tool in list_server_tools(toolset, offered)]
    resources = [
        spec for spec in toolset.mcp_resources if _is_visible(spec.clients, client)
    ]
    skills = [
        _build_skill_entry(owner)
        for owner in list_skill_owners(toolset)
        if has_skills and (owner is toolset or owner.name not in hidden_names)
    ]
    return ServerListing(
        toolset.name,
        live.protocol,
        instructions=get_served_instructions(toolset, offered),
        tools=tuple(tools),
        resources=(*(spec.mcp for spec in resources if spec.uri is not None), *skills),
        resource_templates=tuple(spec.mcp for spec in resources if spec.uri is None),
        prompts=tuple(
            spec.mcp
            for spec in toolset.mcp_prompts
            if _is_visible(spec.clients, client)
        ),
        variations=live.variations,
    )


def _is_visible(clients: tuple[str, ...] | None, client: str | None) -> bool:
    return client is None or clients is None or client in clients


def _build_skill_entry(owner: Toolset | ToolSpec) -> dict[str, Any]:
    """Return a skill as the runtime lists it: as a resource, without its size."""
    front_matter = build_front_matter(owner)
    name = str(front_matter["name"])
    return {
        # The runtime's `skills/served_skills.py` uses the same URI and MIME type.
        "uri": f"skill://{name}/SKILL.md",
        "name": name,
        "mimeType": "text/markdown",
        "description": str(front_matter["description"]),
    }


def build_proxied_toolset(toolset: Toolset, server: McpServer) -> Toolset:
    """Return a toolset with only the tools that an external server implements.

    The tools have the server's names; the toolset has no exclusions and no targets.
    """
    tools = [
        # The proxy applies `result` (form, size and fields of results); the server does
        # not know it.
        replace(tool, name=server.get_server_name(tool.name), result=ResultForm())
        for tool in toolset.tools
        if toolset.get_proxy(tool) == server.name
    ]
    return replace(toolset, tools=tuple(tools), exclusions=(), targets={})


def exclude_external_tools(
    toolset: Toolset, listing: ServerListing
) -> tuple[ServerListing, int]:
    """Return a listing without tools of external servers, and the number of these.

    The sizes of skills are removed, too. The result is comparable with that of
    `build_declared_listing`.

    Args:
        toolset: the toolset, whose `mcp_servers` declare the external servers.
        listing: the listing of the toolset's own server.
    """
    declared_names = {
        *get_server_tool_names(toolset),
        *(tool.name for tool in toolset.tools),
    }
    tools = []
    for entry in listing.tools:
        name = entry["name"]
        is_external = name not in declared_names and any(
            server.declares_tool(name) for server in toolset.listed_servers
        )
        if not is_external:
            tools.append(entry)
    resources = listing.resources
    if "skills" in toolset.targets:
        resources = tuple(_remove_skill_size(entry) for entry in resources)
    second_reading = listing.second_reading
    if second_reading is not None:
        second_reading, _ = exclude_external_tools(toolset, second_reading)
    own_listing = replace(
        listing,
        tools=tuple(tools),
        resources=resources,
        second_reading=second_reading,
    )
    return own_listing, len(listing.tools) - len(tools)


def exclude_undeclared_kinds(
    declared: ServerListing, listing: ServerListing
) -> tuple[ServerListing, Mapping[str, int]]:
    """Return a listing without kinds of entries that the specs do not declare at all.

    These can be resources, templates and prompts: an import takes over only tools, so
    they are no difference. The second value is the number of removed entries by kind.
    """
    counts = {
        kind: len(listing.entries(kind))
        for kind in KINDS
        if kind != "tools" and listing.entries(kind) and not declared.entries(kind)
    }
    fields: dict[str, Any] = {
        "resource_templates" if kind == "resourceTemplates" else kind: ()
        for kind in counts
    }
    second_reading = listing.second_reading
    if second_reading is not None:
        second_reading = replace(second_reading, **fields)
    return replace(listing, second_reading=second_reading, **fields), counts


def _remove_skill_size(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    if not entry["uri"].startswith("skill://"):
        return entry
    return {key: value for key, value in entry.items() if key != "size"}


def parse_command_server(line: str) -> ExternalServer:
    """Return the settings of a server that a command line starts; start nothing.

    The line is split as a POSIX shell splits it. `${NAME}` in it refers to an
    environment variable, as in `mcp_servers`. The process gets the complete
    environment, as it would from the shell.

    Raises:
        ListingError: the line is empty, or has an unclosed quotation.
    """
    try:
        arguments = shlex.split(line)
    except ValueError as error:
        raise ListingError(f"the command is not valid: {error}") from None
    if not arguments:
        raise ListingError("the command is empty")
    program = arguments[0]
    return ExternalServer(
        program, command=program, args=tuple(arguments[1:]), whole_environment=True
    )


def parse_url_server(url: str) -> ExternalServer:
    """Return the settings of a server at a URL, which is not contacted.

    Raises:
        ListingError: the URL does not begin with `http://` or `https://`.
    """
    if not url.startswith(("https://", "http://")):
        raise ListingError("the URL does not begin with https:// or http://")
    # The query and the user info can contain a secret, and messages show the name.
    name = url.split("?")[0].rpartition("@")[2]
    return ExternalServer(name, url=url)


def parse_headers(options: Iterable[str]) -> dict[str, str]:
    """Return the HTTP headers by name from the values of `--header NAME:VALUE`.

    The last value of a repeated name is used.

    Raises:
        ListingError: a value has no colon or no name.
    """
    pairs = [option.partition(":") for option in options]
    if not all(name.strip() and colon for name, colon, _ in pairs):
        raise ListingError("`--header` is not in the form NAME:VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}
