"""Blockers: the reasons why a plan must not be applied."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .agent_servers import format_alias, is_foreign
from .current_state import AgentState, CurrentState
from .desired_state import DesiredAgent, DesiredState
from .losses import check_accepted_losses
from .plan import AgentPlan, Blocker, Overrides
from .tool_rules import format_names

# The supported versions of Letta's server; every patch version of the last one is
# supported.
_MIN_VERSION = (0, 13, 0)
_MAX_VERSION = (0, 16)
_MAX_NAME_CHARACTERS = 48
"""The maximum length of a tool name in Letta."""


def list_blockers(
    desired: DesiredState,
    current: CurrentState,
    agents: Sequence[AgentPlan],
    overrides: Overrides,
) -> Iterator[Blocker]:
    """Yield every reason why a plan must not be applied, with its solution.

    Args:
        desired: the desired state.
        current: the current state.
        agents: the plan's agents.
        overrides: the operations that the user allows; an allowed operation is no
            blocker.
    """
    if current.backend == "v1":
        yield from _check_version(current)
        yield from _check_entry(desired, current)
    if current.unreachable:
        yield Blocker(
            "unreachable",
            f"Letta cannot list the MCP server's tools: {current.unreachable}",
            "start the MCP server, or fix its URL or token; until then nothing is changed",
        )
    else:
        yield from _check_offered_tools(desired, current)
    # A settings file has no registry, and its agents have no tools and rules of their
    # own.
    if current.backend == "code":
        for desired_agent in desired.agents:
            state = current.agents[desired_agent.name]
            yield from _check_server_list(
                desired, current, desired_agent, state, overrides
            )
        return
    yield from _check_owners(desired, current, overrides)
    yield from check_accepted_losses(overrides.accept_loss, agents)
    for name, holders in sorted(current.holders.items()):
        if name not in overrides.delete:
            yield Blocker(
                "other-agents",
                f"deleting `{name}` would remove it from other agents:"
                f" {', '.join(holders)}",
                f"detach it from them first, or pass --allow-delete {name}",
            )
    for agent in agents:
        yield from _check_agent(desired, current, agent)


def _check_server_list(
    desired: DesiredState,
    current: CurrentState,
    agent: DesiredAgent,
    state: AgentState,
    overrides: Overrides,
) -> Iterator[Blocker]:
    """Yield the blockers in an agent's list of MCP servers in a settings file.

    These are an ambiguous agent, duplicate or foreign entries with the toolset's server
    name, servers with the same alias, and offered tools that the agent must not have.
    """
    if state.is_ambiguous:
        homes = ", ".join(str(home or "Letta's cloud") for home in state.known_homes)
        yield Blocker(
            "ambiguous-agent",
            f"the settings file has several agents with the id of {agent.name}"
            f" ({agent.id}): on {homes}",
            "pass --base-url to choose one",
        )
        return
    own_servers = [
        server for server in state.servers if server.get("name") == desired.server_name
    ]
    if len(own_servers) > 1:
        yield Blocker(
            "twice",
            f"{agent.name} has {len(own_servers)} servers named {desired.server_name}",
            "remove all but one of them from the settings file",
        )
    # Several entries with the toolset's name are a blocker of their own: check only the
    # first.
    for server in own_servers[:1]:
        foreign = is_foreign(server, desired, agent)
        if foreign and desired.server_name not in overrides.capture:
            target = server.get("url") or server.get("command") or "an unknown location"
            yield Blocker(
                "capture",
                f"{agent.name} has a server {desired.server_name} that does not belong to"
                f" the toolset: {target}",
                f"pass --allow-capture {desired.server_name} to replace it",
            )
    for server in state.servers:
        name = str(server.get("name"))
        # Letta Code prefixes the names of tools with the alias of their server, so two
        # servers with the same alias have the same tool names.
        if name != desired.server_name and format_alias(name) == format_alias(
            desired.server_name
        ):
            yield Blocker(
                "same-alias",
                f"the tools of the server `{name}` of {agent.name} have the same prefix,"
                f" mcp__{format_alias(name)}__",
                "choose another `letta.server.name` for the toolset",
            )
    for name in sorted(set(current.offered) & set(agent.forbids)):
        yield Blocker(
            "forbidden",
            f"the MCP server offers `{name}` to {agent.name}, which must not have it:"
            f" {agent.forbids[name]}",
            "use the endpoint of a client that may not call the tool: Letta Code gives an"
            " agent every tool that a server offers",
        )


def _check_version(current: CurrentState) -> Iterator[Blocker]:
    # An unknown form of version is refused, too: the API can differ.
    version = parse_version(current.version)
    if version is None or version < _MIN_VERSION or version[:2] > _MAX_VERSION:
        yield Blocker(
            "version",
            f"Letta {current.version} is not supported: this version supports 0.13.0 to"
            " 0.16",
            "use a supported version of Letta, or another version of toolcast-letta",
        )


def parse_version(text: str) -> tuple[int, ...] | None:
    """Return the first three numbers of a version; None for another form.

    Example: (0, 16, 6) for `0.16.6`.
    """
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return None if match is None else tuple(int(part) for part in match.groups())


def _check_entry(desired: DesiredState, current: CurrentState) -> Iterator[Blocker]:
    if current.entry is not None and not current.entry.is_http:
        yield Blocker(
            "server-kind",
            f"the entry `{desired.server_name}` does not use streamable HTTP",
            "choose another `letta.server.name` for the toolset",
        )


def _check_offered_tools(
    desired: DesiredState, current: CurrentState
) -> Iterator[Blocker]:
    """Yield blockers for differences between the MCP server's tools and the specs.

    The registry is changed only if the MCP server already offers what the specs
    declare.
    """
    # A refresh deletes every tool that the server does not offer, so an empty list
    # would delete all of them.
    if not current.offered:
        yield Blocker(
            "empty-list",
            "the MCP server offers no tools, as it can during a deployment"
            + (": a refresh would delete all its tools" * (current.backend == "v1")),
            "wait until the MCP server is deployed, then plan again",
        )
        return
    withheld = [name for name in sorted(desired.withheld) if name in current.offered]
    if withheld:
        reasons = "; ".join(f"`{name}`: {desired.withheld[name]}" for name in withheld)
        yield Blocker(
            "wrong-endpoint",
            f"{desired.server_url} is not the endpoint for Letta: it offers tools that"
            f" the specs withhold from Letta ({reasons})",
            "set the MCP server's URL to the endpoint of Letta's client, /mcp/CLIENT/",
        )
    missing = [name for name in sorted(desired.tools) if name not in current.offered]
    if missing:
        yield Blocker(
            "not-deployed",
            f"the MCP server does not offer {format_names(missing)}"
            + " on its first page" * (current.backend == "v1"),
            "deploy the generated server, then plan again",
        )
    for name, tool in sorted(desired.tools.items()):
        offered = current.offered.get(name)
        if offered is None:
            continue
        if offered.problem and tool.attached:
            yield Blocker(
                "skipped-schema",
                f"Letta would skip `{name}` without an error: {offered.problem}",
                "fix the tool's `parameters`",
            )
        elif offered.digest != tool.digest:
            yield Blocker(
                "not-deployed",
                f"the MCP server's description or schema of `{name}` differs from the spec",
                "deploy the generated server, then plan again",
            )
        if current.backend == "v1" and len(name) > _MAX_NAME_CHARACTERS:
            yield Blocker(
                "name-too-long",
                f"`{name}` has {len(name)} characters; Letta accepts at most"
                f" {_MAX_NAME_CHARACTERS}, and its refresh aborts at a longer name",
                "shorten the name",
            )


def _check_owners(
    desired: DesiredState, current: CurrentState, overrides: Overrides
) -> Iterator[Blocker]:
    """Yield blockers for registered tools of other owners that would be taken over.

    Tool names are unique in an organization: registering a tool replaces a tool of the
    same name. Tools that the server offers without a spec are included.
    """
    for name in sorted({*desired.tools, *current.offered}):
        registered = current.registry.get(name)
        if registered is None or current.is_own_tool(name):
            continue
        # No override allows this: after the toolset's tool is removed, the built-in
        # tool would be missing for every agent.
        if registered.is_built_in:
            yield Blocker(
                "capture",
                f"`{name}` is a built-in tool of Letta: registering the MCP server would"
                " replace it for every agent of the organization",
                "rename the tool, for example with a prefix",
            )
        elif name not in overrides.capture:
            yield Blocker(
                "capture",
                f"`{name}` belongs to {current.format_owner(registered)}: registering the"
                " MCP server would take it over",
                f"rename the tool, or pass --allow-capture {name}",
            )


def _check_agent(
    desired: DesiredState, current: CurrentState, plan: AgentPlan
) -> Iterator[Blocker]:
    agent = next(agent for agent in desired.agents if agent.name == plan.name)
    if plan.type != agent.type:
        yield Blocker(
            "agent-type",
            f"{plan.name} is a {plan.type}, but the toolset declares {agent.type}, whose"
            " tools need other rules",
            f"set `type: {plan.type}` for the agent in the toolset",
        )
    for name in agent.expected:
        if name not in current.registry:
            yield Blocker(
                "expected-missing",
                f"`expects` of {plan.name} lists `{name}`, which is not in the registry",
                "register the tool, or remove it from `expects`",
            )
        if name in agent.forbids:
            yield Blocker(
                "expected-missing",
                f"`{name}` is in both `expects` and `forbids` of {plan.name}",
                "remove it from one of them",
            )
    for name in plan.tools_before:
        registered = current.registry.get(name)
        if registered is None and name not in desired.tools:
            yield Blocker(
                "unknown-tool",
                f"{plan.name} has `{name}`, which is not in the registry: it was deleted"
                " while the state was read",
                "plan again",
            )
