"""Why a plan must not be applied, and what a person should know of it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from .agent_servers import format_alias, is_foreign
from .core_tools import list_conflicting_rules, list_lost_tools
from .current_state import AgentState, CurrentState
from .desired_state import DesiredAgent, DesiredState
from .plan import AgentPlan, Blocker, Change, Overrides
from .tool_rules import (
    LOOP_RULES,
    TYPES_WITH_LOOP_RULES,
    build_rule_needs,
    format_rule,
    is_stale,
    list_unneeded_rules,
)

_MIN_VERSION = (0, 13, 0)
_MAX_VERSION = (0, 16)
_PRIVATE_ADDRESSES_REFUSED_SINCE = (0, 16, 7)
_MAX_NAME_CHARACTERS = 48
"""Length of a tool name that Letta accepts."""
_RETURN_LIMIT = "return_char_limit"


def list_blockers(
    desired: DesiredState,
    current: CurrentState,
    agents: Sequence[AgentPlan],
    overrides: Overrides,
) -> Iterator[Blocker]:
    """Everything that speaks against applying, each with what to do."""
    if current.backend == "v1":
        yield from _check_version(current)
        yield from _check_entry(desired, current)
    if current.unreachable:
        yield Blocker(
            "unreachable",
            f"Letta cannot list the MCP server's tools: {current.unreachable}",
            "nothing is touched while the server is away; start it, or mend URL or token",
        )
    else:
        yield from _check_offered_tools(desired, current)
    if current.backend == "code":
        for one in desired.agents:
            state = current.agents[one.name]
            yield from _check_server_list(desired, current, one, state, overrides)
        return
    yield from _check_owners(desired, current, overrides)
    for name, holders in sorted(current.holders.items()):
        if name not in overrides.delete:
            yield Blocker(
                "other-agents",
                f"`{name}` is to be deleted, and other agents have it:"
                f" {', '.join(holders)}",
                f"detach it there first, or name it: --allow-delete {name}",
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
    """An agent's list of servers: what is in the way, and what would come along."""
    if state.is_ambiguous:
        shown = ", ".join(str(home or "Letta's cloud") for home in state.known_homes)
        yield Blocker(
            "ambiguous-agent",
            f"{agent.name} ({agent.id}) is in the settings for {shown}",
            "--base-url names one",
        )
        return
    own_servers = [
        one for one in state.servers if one.get("name") == desired.server_name
    ]
    if len(own_servers) > 1:
        yield Blocker(
            "twice",
            f"{agent.name} has {len(own_servers)} servers named {desired.server_name}",
            "take all but one out of the settings",
        )
    for server in own_servers[:1]:
        foreign = is_foreign(server, desired, agent)
        if foreign and desired.server_name not in overrides.capture:
            where = server.get("url") or server.get("command") or "another place"
            yield Blocker(
                "capture",
                f"{agent.name} has a server {desired.server_name} that is somebody else's,"
                f" at {where}",
                f"--allow-capture {desired.server_name} makes it the toolset's",
            )
    for server in state.servers:
        name = str(server.get("name"))
        if name != desired.server_name and format_alias(name) == format_alias(
            desired.server_name
        ):
            yield Blocker(
                "same-alias",
                f"{agent.name} calls the tools of `{name}` by the same names,"
                f" mcp__{format_alias(name)}__...",
                "rename the server's entry in the toolset's `letta`",
            )
    for name in sorted(set(current.offered) & set(agent.forbids)):
        yield Blocker(
            "forbidden",
            f"the MCP server offers {agent.name} `{name}`, which it must not have:"
            f" {agent.forbids[name]}",
            "Letta Code gives an agent all that a server offers: have it serve a client"
            " that may not call this",
        )


def _check_version(current: CurrentState) -> Iterator[Blocker]:
    version = _parse_version(current.version)
    if version is None or version < _MIN_VERSION or version[:2] > _MAX_VERSION:
        yield Blocker(
            "version",
            f"Letta {current.version} is not known: this is for 0.13.0 to 0.16",
            "what is measured holds for those; use the version that fits",
        )


def _parse_version(text: str) -> tuple[int, ...] | None:
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return None if match is None else tuple(int(part) for part in match.groups())


def _check_entry(desired: DesiredState, current: CurrentState) -> Iterator[Blocker]:
    if current.entry is not None and not current.entry.is_http:
        yield Blocker(
            "server-kind",
            f"the entry `{desired.server_name}` is not of the kind streamable HTTP",
            "give the toolset's entry another name",
        )


def _check_offered_tools(
    desired: DesiredState, current: CurrentState
) -> Iterator[Blocker]:
    """The server must offer what the specs say before the registry is touched."""
    if not current.offered:
        yield Blocker(
            "empty-list",
            "the MCP server offers no tool at all, as during a deployment"
            + (
                ": refreshing would delete every tool of it" * (current.backend == "v1")
            ),
            "wait until it is deployed",
        )
        return
    withheld = [n for n in sorted(desired.withheld) if n in current.offered]
    if withheld:
        shown = "; ".join(f"`{name}`: {desired.withheld[name]}" for name in withheld)
        yield Blocker(
            "wrong-endpoint",
            f"{desired.server_url} is not the endpoint for Letta: it offers what the"
            f" specs keep from Letta ({shown})",
            "name the endpoint of the client that Letta is, /mcp/CLIENT/, as the URL of"
            " the MCP server",
        )
    missing = [name for name in sorted(desired.tools) if name not in current.offered]
    if missing:
        yield Blocker(
            "not-deployed",
            f"the MCP server does not offer {_format_names(missing)}"
            + " on its first page" * (current.backend == "v1"),
            "deploy the generated server first, then plan again",
        )
    for name, tool in sorted(desired.tools.items()):
        offered = current.offered.get(name)
        if offered is None:
            continue
        if offered.problem and tool.attached:
            yield Blocker(
                "skipped-schema",
                f"Letta would skip `{name}` in silence: {offered.problem}",
                "mend its parameters",
            )
        elif offered.digest != tool.digest:
            yield Blocker(
                "not-deployed",
                f"the MCP server shows `{name}` otherwise than its spec",
                "deploy the generated server first, then plan again",
            )
        if current.backend == "v1" and len(name) > _MAX_NAME_CHARACTERS:
            yield Blocker(
                "name-too-long",
                f"`{name}` has {len(name)} characters; Letta takes {_MAX_NAME_CHARACTERS} and"
                " stops half-way at such a name",
                "shorten the name",
            )


def _check_owners(
    desired: DesiredState, current: CurrentState, overrides: Overrides
) -> Iterator[Blocker]:
    """Names are unique in an organisation: who registers one takes it over."""
    for name in sorted({*desired.tools, *current.offered}):
        registered = current.registry.get(name)
        if registered is None or current.is_own_tool(name):
            continue
        if registered.is_built_in:
            yield Blocker(
                "capture",
                f"`{name}` is Letta's own tool: registering the server would take it"
                " away from every agent of the organisation",
                "rename the tool; a prefix helps",
            )
        elif name not in overrides.capture:
            yield Blocker(
                "capture",
                f"`{name}` belongs to {current.format_owner(registered)}: registering the server takes it over",
                f"rename the tool, or name it: --allow-capture {name}",
            )


def _check_agent(
    desired: DesiredState, current: CurrentState, plan: AgentPlan
) -> Iterator[Blocker]:
    wanted = next(agent for agent in desired.agents if agent.name == plan.name)
    if plan.type != wanted.type:
        yield Blocker(
            "agent-type",
            f"{plan.name} is a {plan.type}; the toolset says {wanted.type}, whose tools"
            " need other rules",
            f"`type: {plan.type}` in the toolset",
        )
    for name in wanted.expected:
        if name not in current.registry:
            yield Blocker(
                "expected-missing",
                f"{plan.name} must have `{name}`, and Letta knows no such tool",
                "register it, or take it from `expects`",
            )
        if name in wanted.forbids:
            yield Blocker(
                "expected-missing",
                f"{plan.name} both expects and forbids `{name}`",
                "take it from one of the two",
            )
    for name in plan.tools_before:
        registered = current.registry.get(name)
        if registered is None and name not in desired.tools:
            yield Blocker(
                "unknown-tool",
                f"{plan.name} has `{name}`, which the registry does not show",
                "plan again; it was deleted in between",
            )


def list_warnings(
    desired: DesiredState,
    current: CurrentState,
    agents: Sequence[AgentPlan],
    changes: Sequence[Change],
) -> Iterator[str]:
    """What a person should know; nothing of it stops the plan."""
    if current.backend == "code":
        yield from _list_settings_file_warnings(desired, current, changes)
    else:
        yield from _list_server_warnings(desired, current, agents)


def _list_settings_file_warnings(
    desired: DesiredState, current: CurrentState, changes: Sequence[Change]
) -> Iterator[str]:
    """What specs say and Letta Code does not do, and what it may do to the settings."""
    tools = desired.tools
    approved = sorted(name for name, tool in tools.items() if tool.requires_approval)
    if approved:
        yield (
            "Letta Code asks for approval by its own permissions, not for"
            f" {', '.join(approved)} by name"
        )
    beyond = sorted(name for name, tool in tools.items() if not tool.attached)
    if beyond:
        yield (
            "every offered tool is the agent's, also those that are not attached:"
            f" {', '.join(beyond)}"
        )
    for change in changes:
        state = current.agents[change.agent]
        if state.home not in state.known_homes:
            where = state.home or "Letta's cloud"
            yield f"{change.agent} is not in the settings: {state.id} on {where} is added"
    if changes:
        yield "a Letta Code that runs may write its older settings over these"


def _list_server_warnings(
    desired: DesiredState, current: CurrentState, agents: Sequence[AgentPlan]
) -> Iterator[str]:
    version = _parse_version(current.version)
    if (
        version
        and version >= _PRIVATE_ADDRESSES_REFUSED_SINCE
        and _is_private(desired.server_url)
    ):
        yield (
            f"Letta {current.version} refuses MCP servers at private addresses such as"
            f" {urlsplit(desired.server_url).hostname}, without an opt-out"
        )
    undeclared = sorted(n for n in current.offered if n not in desired.tools)
    if undeclared:
        yield (
            f"the MCP server also offers {_format_names(undeclared)}, which the specs do not"
            " have; Letta registers them along, and agents keep them as they are"
        )
    skipped = [n for n in sorted(desired.tools) if n in current.offered]
    skipped = [n for n in skipped if current.offered[n].problem]
    skipped = [n for n in skipped if not desired.tools[n].attached]
    if skipped:
        yield f"Letta does not register {_format_names(skipped)}: their schemas are not to its taste"
    yield from _list_tool_setting_warnings(desired, current, agents)
    for agent in agents:
        if "origin:letta-code" in current.agents[agent.name].tags:
            yield (
                f"{agent.name} is opened by Letta Code, which clears every rule when it"
                " starts: verify again later"
            )
        for rule in agent.rules_after:
            if is_stale(rule, agent.tools_after) and rule["tool_name"]:
                yield (
                    f"{agent.name} has a rule {rule['type']} of `{rule['tool_name']}`"
                    " that names a tool which is not attached; it misleads the model."
                    f" --drop-stale {rule['tool_name']} removes it"
                )
        yield from _list_loop_rule_warnings(agent)
        wanted = next(one for one in desired.agents if one.name == agent.name)
        state, tools = current.agents[agent.name], agent.tools_after
        added = list_unneeded_rules(
            agent.rules_after, build_rule_needs(desired, wanted, state, current, tools)
        )
        conflicting = list_conflicting_rules(wanted, agent)
        shown = [format_rule(rule) for rule in added if rule not in conflicting]
        if shown:
            yield (
                f"{agent.name} has rules that neither the specs nor a {agent.type} ask"
                f" for, and applying keeps them: {_format_names(shown)}"
            )
        lost = [
            name
            for name in list_lost_tools(wanted, agent, current)
            if name not in current.registry or not current.registry[name].is_built_in
        ]
        if lost:
            yield (
                f"{agent.name} has lost {_format_names(lost)} of others since the baseline of"
                f" {current.agents[agent.name].baseline_time}"
            )


def _list_tool_setting_warnings(
    desired: DesiredState, current: CurrentState, agents: Sequence[AgentPlan]
) -> Iterator[str]:
    """Settings that no spec makes; a tool that is registered again gets them back."""
    limits = [
        tool.settings.get(_RETURN_LIMIT)
        for tool in current.registry.values()
        if tool.is_built_in
    ]
    usual = max(limits, key=limits.count, default=None)
    shown = []
    for name in sorted({name for agent in agents for name in agent.tools_after}):
        tool, is_ours = current.registry.get(name), current.is_own_tool(name)
        if tool is None or not (is_ours or tool.is_built_in):
            continue
        for key, value in tool.settings.items():
            if value != usual if key == _RETURN_LIMIT else is_ours and value:
                shown.append(f"`{name}` {key} {value}")
    if shown:
        yield (
            "the registry holds what no spec says, and applying keeps it:"
            f" {', '.join(shown)}"
        )


def _list_loop_rule_warnings(agent: AgentPlan) -> Iterator[str]:
    if agent.type not in TYPES_WITH_LOOP_RULES:
        return
    names_with_rule = {
        r["tool_name"] for r in agent.rules_after if r["type"] in LOOP_RULES
    }
    names_without_rule = [
        name for name in agent.tools_after if name not in names_with_rule
    ]
    if names_without_rule:
        yield (
            f"{agent.name}, a {agent.type}, ends its turn at {_format_names(names_without_rule)}: no rule"
            " says that it goes on, and what is not the toolset's stays as it is"
        )


def _is_private(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith((".local", ".svc", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def _format_names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
