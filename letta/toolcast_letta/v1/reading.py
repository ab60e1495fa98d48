"""Read the current state of a Letta server."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..block_parts import BlockTextError, split_block
from ..plan.agent_servers import AGENT_HEADER
from ..plan.current_state import (
    REGISTRATION_SETTINGS,
    AgentState,
    CurrentState,
    OfferedTool,
    RegisteredTool,
    ServerEntry,
)
from ..plan.desired_state import DesiredState
from ..schemas.health import list_schema_problems
from ..schemas.stored import (
    build_stored_parameters,
    compute_tool_digest,
    remove_injected,
)
from ..settings import LettaBlock
from .api import LettaApi, LettaError


def build_server_config(
    desired: DesiredState, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the configuration of the MCP server's entry, with secrets.

    The token is sent as a custom header, because Letta's own token field cannot be
    changed later: Letta accepts a new value and ignores it.

    Args:
        desired: the desired state.
        headers: the entry's current headers. Headers of other owners are preserved. A
            fixed `X-Agent-Id` is removed: Letta itself sends the id of the calling
            agent.
    """
    # Header names are case-insensitive (RFC 9110, section 5.1).
    replaced = {AGENT_HEADER.lower()}
    if desired.token is not None:
        replaced.add("authorization")
    sent_headers = {
        key: value
        for key, value in (headers or {}).items()
        if key.lower() not in replaced
    }
    if desired.token is not None:
        sent_headers["Authorization"] = f"Bearer {desired.token}"
    return {
        "mcp_server_type": "streamable_http",
        "server_url": desired.server_url,
        # Letta reads null as "no change", so the last header can only be removed by
        # sending an empty object.
        "custom_headers": sent_headers if sent_headers or headers else None,
    }


def find_raw_entry(api: LettaApi, desired: DesiredState) -> dict[str, Any] | None:
    """Return the toolset's entry as the API returns it; None if it does not exist.

    It contains secrets: never print it.
    """
    return _find_entry(api.list_servers(), desired)


def _find_entry(
    entries: list[dict[str, Any]], desired: DesiredState
) -> dict[str, Any] | None:
    for entry in entries:
        if entry["server_name"] == desired.server_name:
            return entry
    return None


def read_current_state(api: LettaApi, desired: DesiredState) -> CurrentState:
    """Read everything that a plan for a Letta server depends on.

    Raises:
        LettaError: a request failed, an agent does not exist, or the server is not a
            Letta server.
    """
    try:
        return _read_current_state(api, desired)
    except (AttributeError, KeyError, TypeError) as error:
        # `LettaApi` validates only the outer structure of responses; a nested value is
        # missing or has another type.
        raise LettaError(
            f"{api.base_url} returned an unexpected response ({type(error).__name__})"
        ) from error


def _read_current_state(api: LettaApi, desired: DesiredState) -> CurrentState:
    version = api.get_version()
    # The number is not used: this request needs the key, so a missing or wrong key is
    # reported before the other requests.
    api.count_tools()
    entries = api.list_servers()
    raw = _find_entry(entries, desired)
    entry = None if raw is None else _parse_entry(raw, desired)
    offered, unreachable = _probe_offered_tools(api, desired, raw)
    registry = read_registry(api)
    agents = {agent.name: read_agent(api, agent.id) for agent in desired.agents}
    names = {item["id"]: item["server_name"] for item in entries}
    current = CurrentState(
        "v1", version, entry, offered, unreachable, registry, agents, names
    )
    obsolete = [
        name
        for name in current.own_names
        if name not in desired.tools and name not in offered
    ]
    # Only a deletion affects agents outside the toolset, so all agents are listed only
    # if the plan will delete a tool.
    if obsolete and not unreachable:
        own_ids = {agent.id for agent in desired.agents}
        current = replace(current, holders=_find_holders(api, obsolete, own_ids))
    return current


def _parse_entry(raw: Mapping[str, Any], desired: DesiredState) -> ServerEntry:
    headers = raw.get("custom_headers") or {}
    authorizations = [
        value for key, value in headers.items() if key.lower() == "authorization"
    ]
    return ServerEntry(
        raw["id"],
        raw["server_name"],
        raw.get("server_url") or "",
        raw.get("mcp_server_type") == "streamable_http",
        desired.token is None or authorizations[-1:] == [f"Bearer {desired.token}"],
        AGENT_HEADER.lower() in {key.lower() for key in headers},
    )


def _probe_offered_tools(
    api: LettaApi, desired: DesiredState, raw: Mapping[str, Any] | None
) -> tuple[dict[str, OfferedTool], str]:
    """Return the tools that the MCP server will offer once its entry is as desired.

    The second value states why Letta cannot reach the server; it is empty if it can,
    and otherwise the tools are empty.

    Raises:
        LettaError: Letta refused the request itself, with status 401 or 403.
    """
    try:
        config = build_server_config(
            desired, raw.get("custom_headers") if raw else None
        )
        # If the entry will change, query the server with the URL and headers that the
        # entry will have, not with its current ones.
        is_up_to_date = raw is not None and all(
            (raw.get(key) or None) == (value or None) for key, value in config.items()
        )
        if is_up_to_date:
            return read_offered_tools(api, desired), ""
        offered = api.probe_server(desired.server_name, config)
    except LettaError as error:
        # Letta refused the key of this client; the MCP server was not contacted.
        if error.status in (401, 403):
            raise
        return {}, _explain_unreachable(error, desired)
    return {tool["name"]: _parse_offered_tool(tool) for tool in offered}, ""


def _explain_unreachable(error: LettaError, desired: DesiredState) -> str:
    """Return Letta's error message, with the possible causes if it is ambiguous."""
    if "connect" not in str(error).lower():
        return str(error)
    # Letta reports a failed connection also if the MCP server refuses the token.
    token = " or refuses the token" if desired.token is not None else ""
    return f"the server is not reachable{token}: {error}"


def read_offered_tools(api: LettaApi, desired: DesiredState) -> dict[str, OfferedTool]:
    """Read the tools that the entry's MCP server currently offers, by name."""
    offered = api.list_live_tools(desired.server_name)
    return {tool["name"]: _parse_offered_tool(tool) for tool in offered}


def _parse_offered_tool(tool: Mapping[str, Any]) -> OfferedTool:
    """Return a tool with the reason why Letta would skip it, if there is one.

    Letta's own result of checking the schema replaces the local one.
    """
    schema = tool.get("inputSchema") or {}
    health = tool.get("health") or {}
    problem = "; ".join(list_schema_problems(schema))
    if health.get("status") == "INVALID":
        problem = "; ".join(health.get("reasons") or ()) or "its schema is not valid"
    parameters = build_stored_parameters(schema)
    return OfferedTool(
        tool["name"], compute_tool_digest(tool.get("description"), parameters), problem
    )


def read_registry(api: LettaApi) -> dict[str, RegisteredTool]:
    """Read every registered tool of the organization, by name."""
    return {tool["name"]: _parse_registered_tool(tool) for tool in api.list_tools()}


def _parse_registered_tool(tool: Mapping[str, Any]) -> RegisteredTool:
    schema = tool.get("json_schema") or {}
    metadata = tool.get("metadata_") or tool.get("metadata") or {}
    owner = metadata.get("mcp") or {}
    parameters = remove_injected(schema.get("parameters") or {})
    # Letta sends calls to the server that the first tag `mcp:SERVER` names.
    tags = [tag for tag in tool.get("tags") or () if tag.startswith("mcp:")]
    return RegisteredTool(
        tool["id"],
        tool["name"],
        tool["tool_type"],
        owner.get("server_id"),
        compute_tool_digest(
            schema.get("description") or tool.get("description"), parameters
        ),
        {key: tool.get(key) for key in REGISTRATION_SETTINGS},
        tags[0].split(":")[1] if tags else "",
    )


def read_agent(api: LettaApi, agent_id: str) -> AgentState:
    """Read an agent with all its tools, rules and tags.

    Raises:
        LettaError: the agent does not exist, the request failed, or the response lacks
            the tools or has invalid rules.
    """
    try:
        raw = api.get_agent(agent_id)
    except LettaError as error:
        if error.status == 404:
            raise LettaError(f"Letta has no agent {agent_id}", 404) from None
        raise
    tools, rules = raw.get("tools"), raw.get("tool_rules") or []
    if not _is_object_list(tools, "name", "id"):
        raise LettaError(f"the response for agent {agent_id} has no list of tools")
    if not _is_object_list(rules, "tool_name", "type"):
        raise LettaError(f"the response for agent {agent_id} has no list of rules")
    return AgentState(
        raw["id"],
        raw["name"],
        raw["agent_type"],
        {tool["name"]: tool["id"] for tool in raw["tools"]},
        tuple(rules),
        tuple(raw.get("tags") or ()),
    )


def read_parts(
    api: LettaApi, agent_id: str, blocks: Sequence[LettaBlock], toolset: str
) -> dict[str, str]:
    """Read the toolset's part of memory blocks, by block label.

    The part is the text from the toolset's first marker to its second one, with the
    markers; empty if the block has none. Blocks that do not exist or whose markers are
    invalid are left out.
    """
    parts = {}
    for block in blocks:
        received = api.find_block(agent_id, block.label)
        if received is not None:
            with contextlib.suppress(BlockTextError):
                parts[block.label] = split_block(received[0], toolset)[1]
    return parts


def _is_object_list(value: Any, *keys: str) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict) and all(isinstance(item.get(key), str) for key in keys)
        for item in value
    )


def _find_holders(
    api: LettaApi, names: list[str], own_ids: set[str]
) -> dict[str, tuple[str, ...]]:
    """Return the agents that have one of the tools, sorted, by tool name.

    Agents with an id in `own_ids` are skipped; tools that no other agent has are left
    out.
    """
    holders: dict[str, list[str]] = {}
    for agent in api.list_agents():
        if agent["id"] in own_ids:
            continue
        attached = {tool["name"] for tool in agent.get("tools") or ()}
        for name in attached.intersection(names):
            holders.setdefault(name, []).append(f"{agent['name']} ({agent['id']})")
    return {name: tuple(sorted(agents)) for name, agents in holders.items()}
