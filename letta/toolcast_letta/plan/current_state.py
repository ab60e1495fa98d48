"""What is in Letta, as a value."""

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
    """The MCP server's entry.

    Attributes:
        id: Letta's id.
        name: its name.
        url: where Letta reaches it.
        is_http: whether it is of the streamable HTTP kind.
        has_token: whether Letta sends the token that it should, as it should.
    """

    id: str
    name: str
    url: str
    is_http: bool
    has_token: bool


@dataclass(frozen=True)
class OfferedTool:
    """A tool that the server offers Letta now.

    Attributes:
        name: its name.
        digest: the digest of what agents would see of it.
        problem: why Letta would skip it in silence; empty when it would not.
    """

    name: str
    digest: str
    problem: str = ""


@dataclass(frozen=True)
class RegisteredTool:
    """A tool of the organisation.

    Attributes:
        id: Letta's id.
        name: its name, unique in the organisation.
        type: `external_mcp`, `custom` or one of Letta's own.
        server_id: the entry that owns it; None when no MCP server does.
        digest: the digest of what agents see of it.
        settings: what registering it again would reset.
        called_at: the entry whose server Letta calls it at, by its tag; empty where no tag
            says that, and every call fails.
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
        """Whether it is one of Letta's own."""
        return self.type.startswith("letta_")

    @property
    def needs_approval(self) -> bool:
        """Whether its owner wants a person to approve each call."""
        return bool(self.settings.get("default_requires_approval"))


@dataclass(frozen=True)
class AgentState:
    """An agent.

    Attributes:
        id: Letta's id.
        name: Letta's name of it.
        type: Letta's type.
        tools: the ids of its tools by name.
        rules: its rules, as Letta has them.
        tags: its tags.
        servers: its list of MCP servers in a settings file, secrets in clear: never print
            one.
        home: where it lives, as the settings file says it; None for Letta's cloud.
        known_homes: every place for which the settings file has an agent of this id.
        is_ambiguous: nobody says which of them is meant.
        had: tools that are not the toolset's, as the newest baseline left them.
        had_at: when that was; empty without a baseline.
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
    baseline_tools: tuple[str, ...] = ()
    baseline_time: str = ""


@dataclass(frozen=True)
class CurrentState:
    """Everything that a plan looks at.

    Attributes:
        backend: the kind of Letta, `v1` or `code`.
        version: the server's version; empty for a settings file.
        entry: the MCP server's entry in the registry; None when there is none.
        offered: what the MCP server offers Letta now, by name.
        unreachable: why Letta cannot list the server's tools; empty when it can.
        registry: every tool of the organisation, by name; empty where there is no registry.
        agents: the toolset's agents, by the toolset's names for them.
        entry_names: the names of all MCP servers' entries, by their ids.
        holders: the other agents that have a tool, by the tool's name; read only where
            tools are to be deleted.
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
        """Whether the registry's tool of a name belongs to the toolset's entry."""
        tool = self.registry.get(name)
        return (
            tool is not None
            and self.entry is not None
            and tool.server_id == self.entry.id
        )

    def is_up_to_date(self, tool: DesiredTool) -> bool:
        """Whether the registry has one of the toolset's tools as it should be."""
        there = self.registry.get(tool.name)
        if there is None or self.entry is None or not self.is_own_tool(tool.name):
            return False
        return (there.digest, there.called_at) == (tool.digest, self.entry.name)

    def format_owner(self, tool: RegisteredTool) -> str:
        """Who owns a registered tool, in words."""
        if tool.server_id is None:
            return f"a {tool.type} tool"
        name = self.entry_names.get(tool.server_id)
        return f"the MCP server `{name}`" if name else f"an entry {tool.server_id}"

    @property
    def own_names(self) -> tuple[str, ...]:
        """The registered tools of the toolset's entry."""
        return tuple(name for name in self.registry if self.is_own_tool(name))
