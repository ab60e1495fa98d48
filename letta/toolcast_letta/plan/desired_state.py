"""What a toolset wants to be in Letta: the entry of its server, tools, agents, rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from .stored_schemas import shown_digest, stored_parameters

__all__ = [
    "DesiredAgent",
    "DesiredState",
    "MissingSetting",
    "DesiredTool",
    "desired_state",
]


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
        removed_names: former names of tools, each with the present one.
    """

    toolset: str
    server_name: str
    server_url: str
    token: str | None = field(repr=False)
    tools: Mapping[str, DesiredTool]
    agents: tuple[DesiredAgent, ...]

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


def desired_state(
    data: Mapping[str, Any],
    definitions: Mapping[str, Mapping[str, Any]],
    environment: Mapping[str, str],
    *,
    server_url: str | None = None,
) -> DesiredState:
    """The desired of a toolset.

    Args:
        data: what the `letta` target derives from the specs: `toolset`, `server`,
            `agents`, `attached`, `exit_tools`, `approval_tools`, `former_names`,
            `changing_tools`, `forbidden_tools`.
        definitions: `description`, `parameters` and `examples` of each tool that the
            server offers Letta, by name.
        environment: holds what the specs leave to it: the URL, the token, ids.
        server_url: goes before what the specs say.

    Raises:
        MissingSetting: the environment lacks something that the specs leave to it, or the
            URL is not one.
    """
    server = data["server"]
    former: dict[str, list[str]] = {}
    for old, new in data["former_names"].items():
        former.setdefault(new, []).append(old)
    tools = {
        name: DesiredTool(
            name,
            shown.get("description") or "",
            shown["parameters"],
            attached=name in data["attached"],
            ends_turn=name in data["exit_tools"],
            requires_approval=name in data["approval_tools"],
            former_names=tuple(former.get(name, ())),
            examples=tuple(shown.get("examples", ())),
            changes_data=name in data["changing_tools"],
        )
        for name, shown in definitions.items()
    }
    url = server_url or _setting(server, "url", environment, "the MCP server's URL")
    _check_url(url)
    token = None
    if server.get("token_env"):
        token = _from(environment, server["token_env"], "the MCP server's token")
    return DesiredState(
        data["toolset"],
        server["name"],
        url,
        token,
        tools,
        tuple(
            DesiredAgent(
                agent["name"],
                _setting(agent, "id", environment, f"the id of {agent['name']}"),
                agent["type"],
                {n: n in agent["ends_turn"] for n in agent["expects"]},
                {**data["forbidden_tools"], **agent["forbids"]},
            )
            for agent in data["agents"]
        ),
    )


def _check_url(url: str) -> None:
    """Letta stores the URL, and plans show it."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise MissingSetting("the MCP server's URL is no http or https URL")
    if parts.username or parts.password:
        raise MissingSetting(
            "the MCP server's URL holds a password: let Letta send a token instead"
        )


def _setting(
    holder: Mapping[str, Any], key: str, environment: Mapping[str, str], what: str
) -> str:
    if holder.get(key):
        return str(holder[key])
    name = holder.get(f"{key}_env")
    if not name:
        raise MissingSetting(
            f"{what} is not set: `{key}` or `{key}_env` of the toolset"
        )
    return _from(environment, name, what)


def _from(environment: Mapping[str, str], name: str, what: str) -> str:
    value = environment.get(name, "").strip()
    if not value:
        raise MissingSetting(f"set {name}: {what}")
    return value
