"""The current state of Letta, as read from a server or a settings file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .desired_state import DesiredTool

REGISTRATION_SETTINGS = (
    "return_char_limit",
    "default_requires_approval",
    "enable_parallel_execution",
)
"""Settings of a registered tool that Letta resets when it registers it again."""


@dataclass(frozen=True)
class ServerEntry:
    """The entry of the toolset's MCP server in Letta.

    Attributes:
        id: the entry's id in Letta.
        name: the entry's name.
        url: the URL at which Letta reaches the MCP server.
        is_http: whether the entry uses the streamable HTTP transport.
        has_token: whether Letta sends the desired bearer token as a header; True if
            none is desired.
        has_agent_header: whether the entry sends a fixed `X-Agent-Id`, so that the MCP
            server cannot identify the calling agent.
    """

    id: str
    name: str
    url: str
    is_http: bool
    has_token: bool
    has_agent_header: bool = False


@dataclass(frozen=True)
class OfferedTool:
    """A tool that the MCP server currently offers to Letta.

    Attributes:
        name: the tool's name.
        digest: the digest of its description and parameters, as agents get them.
        problem: why Letta would skip the tool without an error; empty if it registers
            it.
    """

    name: str
    digest: str
    problem: str = ""


@dataclass(frozen=True)
class RegisteredTool:
    """A tool in Letta's registry, which all agents of the organization share.

    Attributes:
        id: the tool's id in Letta.
        name: the tool's name, unique in the organization.
        type: `external_mcp`, `custom`, or a type of Letta's built-in tools.
        server_id: the id of the MCP server's entry that owns the tool; None without
            such an owner.
        digest: the digest of its description and parameters, as agents get them.
        settings: the settings that registering it again would reset.
        called_at: the name of the MCP server's entry that Letta sends calls to, from
            the tool's tag. If it is empty, every call fails.
    """

    id: str
    name: str
    type: str
    server_id: str | None
    digest: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    called_at: str = ""

    @property
    def is_built_in(self) -> bool:
        """Whether this is a built-in tool of Letta."""
        return self.type.startswith("letta_")

    @property
    def needs_approval(self) -> bool:
        """Whether a user must approve each call by default."""
        return bool(self.settings.get("default_requires_approval"))


@dataclass(frozen=True)
class AgentState:
    """The current state of an agent.

    Attributes:
        id: the agent's id in Letta.
        name: the agent's name in Letta.
        type: the agent's type in Letta.
        tools: the ids of its tools, by name.
        rules: its tool rules, as Letta returns them.
        tags: its tags.
        servers: its MCP servers in a settings file. They contain secrets: never print
            them.
        home: where the agent lives, as in the settings file; None for Letta's cloud.
        known_homes: every location for which the settings file lists an agent with this
            id.
        is_ambiguous: whether there are several such locations and the user chose none.
        baseline_tools: the tools of other owners that the newest baseline's apply left
            attached, and those that the agent had lost before; each with its rules.
        accepted_losses: the lost tools that the user accepted by name.
        baseline_time: the time of that baseline; empty without a baseline.
    """

    id: str
    name: str
    type: str
    tools: Mapping[str, str]
    rules: tuple[Mapping[str, Any], ...]
    tags: tuple[str, ...] = ()
    servers: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    home: str | None = None
    known_homes: tuple[str | None, ...] = ()
    is_ambiguous: bool = False
    baseline_tools: Mapping[str, tuple[Mapping[str, Any], ...]] = field(
        default_factory=dict
    )
    accepted_losses: tuple[str, ...] = ()
    baseline_time: str = ""


@dataclass(frozen=True)
class CurrentState:
    """The current state of Letta, as far as a plan depends on it.

    Attributes:
        backend: the kind of Letta: `v1` or `code`.
        version: the server's version; empty for a settings file.
        entry: the MCP server's entry; None if it does not exist.
        offered: the tools that the MCP server currently offers to Letta, by name.
        unreachable: why Letta cannot list the MCP server's tools; empty if it can.
        registry: every registered tool of the organization, by name; empty for a
            settings file.
        agents: the toolset's agents, by their names in the toolset.
        entry_names: the names of the entries of all MCP servers, by id.
        holders: for each tool that the plan deletes, the agents outside the toolset
            that have it.
    """

    backend: str
    version: str
    entry: ServerEntry | None
    offered: Mapping[str, OfferedTool]
    unreachable: str
    registry: Mapping[str, RegisteredTool]
    agents: Mapping[str, AgentState]
    entry_names: Mapping[str, str] = field(default_factory=dict)
    holders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def is_own_tool(self, name: str) -> bool:
        """Return whether a registered tool belongs to the toolset's MCP server entry."""
        tool = self.registry.get(name)
        return (
            tool is not None
            and self.entry is not None
            and tool.server_id == self.entry.id
        )

    def is_up_to_date(self, tool: DesiredTool) -> bool:
        """Return whether a tool of the toolset is registered as its spec declares it.

        Description, parameters, owner and the tag with the called server are compared.
        """
        registered = self.registry.get(tool.name)
        if registered is None or self.entry is None or not self.is_own_tool(tool.name):
            return False
        has_same_content = registered.digest == tool.digest
        return has_same_content and registered.called_at == self.entry.name

    def format_owner(self, tool: RegisteredTool) -> str:
        """Return a phrase for a tool's owner, such as "the MCP server `x`"."""
        if tool.server_id is None:
            return f"a {tool.type} tool"
        name = self.entry_names.get(tool.server_id)
        return (
            f"the MCP server `{name}`"
            if name
            else f"the MCP server entry {tool.server_id}"
        )

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names of the registered tools that belong to the toolset's entry."""
        return tuple(name for name in self.registry if self.is_own_tool(name))
