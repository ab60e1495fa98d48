"""What a toolset wants to be in Letta: the entry of its server, tools, agents, rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..schemas.stored import shown_digest, stored_parameters
from ..settings import LettaSettings, address


class MissingSetting(Exception):
    """Something that the environment must say is not there; the text says what."""


@dataclass(frozen=True)
class DesiredTool:
    """One tool of the toolset's MCP server, as it should be in Letta.

    Attributes:
        name: its name.
        description: what agents read.
        parameters: its input schema, as the spec has it.
        attached: whether the toolset's agents get it.
        ends_turn: a call ends the agent's turn.
        requires_approval: a person approves each call.
        former_names: names that it had.
        examples: calls with `arguments` and, where known, `result` or `error`.
        changes_data: a call changes what the toolset's databases hold.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    attached: bool = False
    ends_turn: bool = False
    requires_approval: bool = False
    former_names: tuple[str, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    changes_data: bool = False

    @property
    def digest(self) -> str:
        """The digest of what Letta shows of it when all is well."""
        return shown_digest(self.description, stored_parameters(self.parameters))


@dataclass(frozen=True)
class DesiredAgent:
    """One agent.

    Attributes:
        name: the toolset's own name for it.
        id: Letta's id.
        type: Letta's type.
        expects: tools of others that it must have, and whether each ends the turn.
        forbids: tools that it must not have, with the reason.
    """

    name: str
    id: str
    type: str
    expects: Mapping[str, bool] = field(default_factory=dict)
    forbids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DesiredState:
    """Everything that a toolset wants to be in Letta.

    Attributes:
        toolset: the toolset's name.
        server_name: the name of the MCP server's entry.
        server_url: where Letta reaches it.
        token: the bearer token that Letta sends there; never shown, None for none.
        tools: the tools that the server offers Letta, by name.
        agents: the agents.
        withheld: tools of the toolset that the server must not offer Letta, with the reason.
        removed_names: former names of tools, each with the present one.
    """

    toolset: str
    server_name: str
    server_url: str
    token: str | None = field(repr=False)
    tools: Mapping[str, DesiredTool]
    agents: tuple[DesiredAgent, ...]
    withheld: Mapping[str, str] = field(default_factory=dict)

    @property
    def canonical(self) -> tuple[str, ...]:
        """The names that every agent of the toolset gets, sorted."""
        return tuple(sorted(t.name for t in self.tools.values() if t.attached))

    @property
    def removed_names(self) -> dict[str, str]:
        """The present name of each former one."""
        return {
            former: tool.name
            for tool in self.tools.values()
            for former in tool.former_names
            if former not in self.tools
        }

    def for_agents(self, names: Iterable[str]) -> DesiredState:
        """The same for some of the agents.

        Raises:
            MissingSetting: there is no agent of a name.
        """
        wanted = tuple(names)
        known = {agent.name: agent for agent in self.agents}
        for name in wanted:
            if name not in known:
                raise MissingSetting(
                    f"the toolset {self.toolset} has no agent `{name}`;"
                    f" it has {', '.join(known)}"
                )
        return replace(self, agents=tuple(known[name] for name in wanted))


@dataclass(frozen=True)
class ToolFacts:
    """What a spec, or the definition that was generated of it, says of a tool.

    Attributes:
        name: its name.
        part: what its definition says under `letta`.
        is_offered: whether the MCP server shows it Letta.
        description: what the server shows of it.
        parameters: its input schema.
        examples: calls with `arguments` and, where known, `result` or `error`.
        former_names: names that it had.
    """

    name: str
    part: Mapping[str, Any]
    is_offered: bool
    description: str | None
    parameters: Mapping[str, Any]
    examples: tuple[Mapping[str, Any], ...] = ()
    former_names: tuple[str, ...] = ()


def desired_state(
    toolset: str,
    settings: LettaSettings,
    tools: Sequence[ToolFacts],
    environment: Mapping[str, str],
    *,
    server_url: str | None = None,
) -> DesiredState:
    """What a toolset wants to be in Letta.

    Args:
        toolset: the toolset's name.
        settings: its entry and agents.
        tools: all of its tools.
        environment: holds what the specs leave to it: the URL, the token, ids.
        server_url: goes before what the specs say.

    Raises:
        MissingSetting: the environment lacks something that the specs leave to it, or the
            URL is not one.
    """
    server = settings.server
    url = server_url or _setting(
        server.url, server.url_env, environment, "the MCP server's URL", "url"
    )
    _check_url(url)
    token = None
    if server.token_env:
        token = _from(environment, server.token_env, "the MCP server's token")
    forbidden = {
        tool.name: tool.part.get("reason", "It calls the agent's own loop.")
        for tool in tools
        if tool.part.get("calls_agent_loop")
    }
    return DesiredState(
        toolset,
        server.name,
        url,
        token,
        {tool.name: _desired_tool(tool) for tool in tools if tool.is_offered},
        tuple(
            DesiredAgent(
                agent.name,
                _setting(
                    agent.id,
                    agent.id_env,
                    environment,
                    f"the id of {agent.name}",
                    "id",
                ),
                agent.type,
                {name: name in agent.ends_turn for name in sorted(agent.expects)},
                {**forbidden, **agent.forbids},
            )
            for agent in settings.agents
        ),
        {tool.name: _why_withheld(tool) for tool in tools if not tool.is_offered},
    )


def _why_withheld(tool: ToolFacts) -> str:
    if tool.part.get("calls_agent_loop"):
        return "it calls the agent's own loop"
    return "it is not for that client"


def _desired_tool(tool: ToolFacts) -> DesiredTool:
    part = tool.part
    is_attached = bool(part.get("attached"))
    return DesiredTool(
        tool.name,
        tool.description or "",
        tool.parameters,
        attached=is_attached,
        ends_turn=is_attached and bool(part.get("ends_turn")),
        requires_approval=is_attached and bool(part.get("requires_approval")),
        former_names=tool.former_names,
        examples=tool.examples,
        changes_data=bool(part.get("changes_data")),
    )


def _check_url(url: str) -> None:
    """Letta stores the URL, and plans show it."""
    parts = address(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MissingSetting("the MCP server's URL is no http or https URL")
    if parts.username or parts.password:
        raise MissingSetting(
            "the MCP server's URL holds a password: let Letta send a token instead"
        )


def _setting(
    value: str | None,
    variable: str | None,
    environment: Mapping[str, str],
    what: str,
    key: str,
) -> str:
    if value:
        return value
    if not variable:
        raise MissingSetting(
            f"{what} is not set: `{key}` or `{key}_env` of the toolset"
        )
    return _from(environment, variable, what)


def _from(environment: Mapping[str, str], name: str, what: str) -> str:
    value = environment.get(name, "").strip()
    if not value:
        raise MissingSetting(f"set {name}: {what}")
    return value
