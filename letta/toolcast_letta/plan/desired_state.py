"""The desired state: the MCP server's entry, tools, agents and rules of a toolset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..schemas.stored import build_stored_parameters, compute_tool_digest
from ..settings import LettaAgent, LettaSettings, parse_url

LOOP_REASON = "It calls the agent's own loop."
"""The default reason for not attaching a tool that calls the agent's own loop."""


class MissingSettingError(Exception):
    """Missing or invalid setting; the message names it."""


@dataclass(frozen=True)
class DesiredTool:
    """A tool of the toolset, as Letta should have it.

    Attributes:
        name: the tool's name.
        description: the description for agents.
        parameters: the input schema from the spec.
        part: the `letta` object of the tool's definition.
        is_offered: whether the MCP server offers the tool to Letta.
        examples: example calls with `arguments` and, if declared, `result` or `error`.
        former_names: names that the tool had before.
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
        """Whether the tool is attached to the toolset's agents."""
        return bool(self.part.get("attached"))

    @property
    def ends_turn(self) -> bool:
        """Whether the tool is attached and a call ends the agent's turn."""
        return self.attached and bool(self.part.get("ends_turn"))

    @property
    def requires_approval(self) -> bool:
        """Whether the tool is attached and a user must approve each call."""
        return self.attached and bool(self.part.get("requires_approval"))

    @property
    def changes_data(self) -> bool:
        """Whether a call changes data in the toolset's databases."""
        return bool(self.part.get("changes_data"))

    @property
    def needs_opt_in(self) -> bool:
        """Whether verification calls the tool only if the user explicitly allows it."""
        return self.changes_data or self.requires_approval

    @property
    def calls_agent_loop(self) -> bool:
        """Whether the tool calls the agent's own loop, so that a call in a turn deadlocks."""
        return bool(self.part.get("calls_agent_loop"))

    @property
    def digest(self) -> str:
        """The digest of the description and parameters that Letta should show to agents."""
        return compute_tool_digest(
            self.description, build_stored_parameters(self.parameters)
        )


@dataclass(frozen=True)
class DesiredAgent(LettaAgent):
    """An agent with a known id.

    `forbids` also contains the toolset's tools that call the agent's loop.
    """

    id: str = ""

    @property
    def expected(self) -> dict[str, bool]:
        """The tools from outside the toolset that the agent must have, sorted by name.

        The value is True if a call of the tool ends the agent's turn.
        """
        return {name: name in self.ends_turn for name in sorted(self.expects)}


@dataclass(frozen=True)
class DesiredState:
    """The state that a toolset declares for Letta.

    Attributes:
        toolset: the toolset's name.
        server_name: the name of the MCP server's entry.
        server_url: the URL at which Letta reaches the MCP server.
        token: the bearer token that Letta sends to the MCP server; None without one.
            Never print it.
        tools: the tools that the MCP server offers to Letta, by name.
        agents: the agents.
        withheld: the tools that the MCP server must not offer to Letta, with the
            reasons.
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
        """The names of the tools that every agent of the toolset gets, sorted."""
        return tuple(sorted(tool.name for tool in self.tools.values() if tool.attached))

    @property
    def removed_names(self) -> dict[str, str]:
        """The current names of renamed tools, by previous name.

        Previous names that a tool of the toolset uses again are left out.
        """
        return {
            former: tool.name
            for tool in self.tools.values()
            for former in tool.former_names
            if former not in self.tools
        }

    def select_agents(self, names: Iterable[str]) -> DesiredState:
        """Return a copy that has only the agents with these names, in this order.

        Raises:
            MissingSettingError: the toolset has no agent with one of the names.
        """
        selected = tuple(names)
        agents = {agent.name: agent for agent in self.agents}
        for name in selected:
            if name not in agents:
                raise MissingSettingError(
                    f"the toolset {self.toolset} has no agent `{name}`\n"
                    f"  help: use one of {', '.join(agents)}"
                )
        return replace(self, agents=tuple(agents[name] for name in selected))


def build_desired_state(
    settings: LettaSettings,
    tools: Iterable[DesiredTool],
    environment: Mapping[str, str],
    *,
    server_url: str | None = None,
) -> DesiredState:
    """Build the desired state of a toolset.

    Args:
        settings: the toolset's settings for Letta.
        tools: all tools of the toolset.
        environment: the environment variables; the settings can leave URL, token and
            ids to them.
        server_url: the MCP server's URL; overrides the settings.

    Raises:
        MissingSettingError: a required variable is not set, or the URL is not valid.
    """
    # `tools` can be a generator, and it is iterated several times.
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
        tuple(_build_agent(agent, forbidden, environment) for agent in settings.agents),
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
        # A reason in the settings has priority over the default reason.
        "forbids": {**forbidden, **agent.forbids},
    }
    return DesiredAgent(**{**vars(agent), **fields})


def _get_withheld_reason(tool: DesiredTool) -> str:
    if tool.calls_agent_loop:
        return "it calls the agent's own loop"
    return "the client that Letta uses may not call it"


def _validate_url(url: str) -> None:
    """Raise an error if the URL is not valid or contains a password.

    Letta stores the URL, and plans show it.
    """
    parts = parse_url(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MissingSettingError("the MCP server's URL is not an http or https URL")
    if parts.username or parts.password:
        raise MissingSettingError(
            "the MCP server's URL contains a password: remove it, and use `token_env`"
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
            f"{label} is not set: set `{key}` or `{key}_env` in the toolset's `letta`"
        )
    return _read_variable(environment, variable, label)


def _read_variable(environment: Mapping[str, str], name: str, label: str) -> str:
    value = environment.get(name, "").strip()
    if not value:
        raise MissingSettingError(
            f"{label} is not set: set the environment variable {name}"
        )
    return value
