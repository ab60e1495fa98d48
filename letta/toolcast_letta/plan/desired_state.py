"""What a toolset wants to be in Letta: the entry of its server, tools, agents, rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..schemas.stored import build_stored_parameters, compute_tool_digest
from ..settings import LettaAgent, LettaSettings, parse_url

LOOP_REASON = "It calls the agent's own loop."
"""Why a tool that does is not attached, where nothing else says it."""


class MissingSettingError(Exception):
    """Missing environment setting; the message names it."""


@dataclass(frozen=True)
class DesiredTool:
    """One tool of the toolset, as it should be in Letta.

    Attributes:
        name: its name.
        description: what agents read.
        parameters: its input schema, as the spec has it.
        part: what its definition says under `letta`.
        is_offered: whether the MCP server shows it Letta.
        examples: calls with `arguments` and, where known, `result` or `error`.
        former_names: names that it had.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    part: Mapping[str, Any]
    is_offered: bool
    examples: tuple[Mapping[str, Any], ...]
    former_names: tuple[str, ...]

    @property
    def attached(self) -> bool:
        """Whether the toolset's agents get it."""
        return bool(self.part.get("attached"))

    @property
    def ends_turn(self) -> bool:
        """Whether a call ends the agent's turn."""
        return self.attached and bool(self.part.get("ends_turn"))

    @property
    def requires_approval(self) -> bool:
        """Whether a person approves each call."""
        return self.attached and bool(self.part.get("requires_approval"))

    @property
    def changes_data(self) -> bool:
        """Whether a call changes what the toolset's databases hold."""
        return bool(self.part.get("changes_data"))

    @property
    def needs_opt_in(self) -> bool:
        """Whether nobody calls it without being told to."""
        return self.changes_data or self.requires_approval

    @property
    def calls_agent_loop(self) -> bool:
        """Whether a call of it in the agent's turn would wait for itself."""
        return bool(self.part.get("calls_agent_loop"))

    @property
    def digest(self) -> str:
        """The digest of what Letta shows of it when all is well."""
        return compute_tool_digest(
            self.description, build_stored_parameters(self.parameters)
        )


@dataclass(frozen=True)
class DesiredAgent(LettaAgent):
    """One agent whose id is known; `forbids` has the toolset's tools that call its loop."""

    id: str = ""

    @property
    def expected(self) -> dict[str, bool]:
        """Tools of others that it must have, sorted, and whether each ends the turn."""
        return {name: name in self.ends_turn for name in sorted(self.expects)}


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

    def select_agents(self, names: Iterable[str]) -> DesiredState:
        """The same for some of the agents.

        Raises:
            MissingSettingError: there is no agent of a name.
        """
        wanted = tuple(names)
        known = {agent.name: agent for agent in self.agents}
        for name in wanted:
            if name not in known:
                raise MissingSettingError(
                    f"the toolset {self.toolset} has no agent `{name}`;"
                    f" it has {', '.join(known)}"
                )
        return replace(self, agents=tuple(known[name] for name in wanted))


def build_desired_state(
    settings: LettaSettings,
    tools: Iterable[DesiredTool],
    environment: Mapping[str, str],
    *,
    server_url: str | None = None,
) -> DesiredState:
    """What a toolset wants to be in Letta.

    Args:
        settings: what it says of Letta.
        tools: all of its tools.
        environment: holds what the specs leave to it: the URL, the token, ids.
        server_url: goes before what the specs say.

    Raises:
        MissingSettingError: the environment lacks something that the specs leave to it, or the
            URL is not one.
    """
    tools = tuple(tools)
    server = settings.server
    url = server_url or _resolve_setting(
        server.url, server.url_env, environment, "the MCP server's URL", "url"
    )
    _validate_url(url)
    token = None
    if server.token_env:
        token = _read_variable(environment, server.token_env, "the MCP server's token")
    forbidden = {
        tool.name: tool.part.get("reason", LOOP_REASON)
        for tool in tools
        if tool.calls_agent_loop
    }
    return DesiredState(
        settings.name,
        server.name,
        url,
        token,
        {tool.name: tool for tool in tools if tool.is_offered},
        tuple(_build_agent(a, forbidden, environment) for a in settings.agents),
        {
            tool.name: _get_withheld_reason(tool)
            for tool in tools
            if not tool.is_offered
        },
    )


def _build_agent(
    agent: LettaAgent, forbidden: Mapping[str, str], environment: Mapping[str, str]
) -> DesiredAgent:
    label = f"the id of {agent.name}"
    fields = {
        "id": _resolve_setting(agent.id, agent.id_env, environment, label, "id"),
        "forbids": {**forbidden, **agent.forbids},
    }
    return DesiredAgent(**{**vars(agent), **fields})


def _get_withheld_reason(tool: DesiredTool) -> str:
    if tool.calls_agent_loop:
        return "it calls the agent's own loop"
    return "it is not for that client"


def _validate_url(url: str) -> None:
    """Letta stores the URL, and plans show it."""
    parts = parse_url(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MissingSettingError("the MCP server's URL is no http or https URL")
    if parts.username or parts.password:
        raise MissingSettingError(
            "the MCP server's URL holds a password: let Letta send a token instead"
        )


def _resolve_setting(
    value: str | None,
    variable: str | None,
    environment: Mapping[str, str],
    label: str,
    key: str,
) -> str:
    if value:
        return value
    if not variable:
        raise MissingSettingError(
            f"{label} is not set: `{key}` or `{key}_env` of the toolset"
        )
    return _read_variable(environment, variable, label)


def _read_variable(environment: Mapping[str, str], name: str, label: str) -> str:
    value = environment.get(name, "").strip()
    if not value:
        raise MissingSettingError(f"set {name}: {label}")
    return value
