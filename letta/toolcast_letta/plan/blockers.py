"""Why a plan must not be applied, and what a person should know of it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from .agent_servers import alias, is_foreign
from .core_tools import contrary_rules, lost_tools
from .current_state import AgentState, CurrentState
from .desired_state import DesiredAgent, DesiredState
from .plan import AgentPlan, Blocker, Change, Overrides
from .tool_rules import (
    LOOP_RULES,
    NEEDS_LOOP_RULES,
    added_rules,
    is_stale,
    rule_needs,
    rule_text,
)

_OLDEST = (0, 13, 0)
_NEWEST = (0, 16)
_REFUSES_PRIVATE = (0, 16, 7)
_MAX_NAME_CHARACTERS = 48
"""Length of a tool name that Letta accepts."""
_LIMIT = "return_char_limit"


def blockers(
    desired: DesiredState,
    current: CurrentState,
    agents: Sequence[AgentPlan],
    overrides: Overrides,
) -> Iterator[Blocker]:
    """Everything that speaks against applying, each with what to do."""
    if current.backend == "v1":
        yield from _about_versions(current)
        yield from _about_the_entry(desired, current)
    if current.unreachable:
        yield Blocker(
            "unreachable",
            f"Letta cannot list the MCP server's tools: {current.unreachable}",
            "nothing is touched while the server is away; start it, or mend URL or token",
        )
    else:
        yield from _about_the_deployment(desired, current)
    if current.backend == "code":
        for one in desired.agents:
            state = current.agents[one.name]
            yield from _about_settings(desired, current, one, state, overrides)
        return
    yield from _about_owners(desired, current, overrides)
    for name, others in sorted(current.holders.items()):
        if name not in overrides.delete:
            yield Blocker(
                "other-agents",
                f"`{name}` is to be deleted, and other agents have it:"
                f" {', '.join(others)}",
                f"detach it there first, or name it: --allow-delete {name}",
            )
    for agent in agents:
        yield from _about_an_agent(desired, current, agent)


def _about_settings(
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
    named = [one for one in state.servers if one.get("name") == desired.server_name]
    if len(named) > 1:
        yield Blocker(
            "twice",
            f"{agent.name} has {len(named)} servers named {desired.server_name}",
            "take all but one out of the settings",
        )
    for one in named[:1]:
        foreign = is_foreign(one, desired, agent)
        if foreign and desired.server_name not in overrides.capture:
            where = one.get("url") or one.get("command") or "another place"
            yield Blocker(
                "capture",
                f"{agent.name} has a server {desired.server_name} that is somebody else's,"
                f" at {where}",
                f"--allow-capture {desired.server_name} makes it the toolset's",
            )
    for one in state.servers:
        name = str(one.get("name"))
        if name != desired.server_name and alias(name) == alias(desired.server_name):
            yield Blocker(
                "same-alias",
                f"{agent.name} calls the tools of `{name}` by the same names,"
                f" mcp__{alias(name)}__...",
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


def _about_versions(current: CurrentState) -> Iterator[Blocker]:
    version = _version(current.version)
    if version is None or version < _OLDEST or version[:2] > _NEWEST:
        yield Blocker(
            "version",
            f"Letta {current.version} is not known: this is for 0.13.0 to 0.16",
            "what is measured holds for those; use the version that fits",
        )


def _version(text: str) -> tuple[int, ...] | None:
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return None if match is None else tuple(int(part) for part in match.groups())


def _about_the_entry(desired: DesiredState, current: CurrentState) -> Iterator[Blocker]:
    if current.entry is not None and not current.entry.is_http:
        yield Blocker(
            "server-kind",
            f"the entry `{desired.server_name}` is not of the kind streamable HTTP",
            "give the toolset's entry another name",
        )


def _about_the_deployment(
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
            f"the MCP server does not offer {_listed(missing)}"
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


def _about_owners(
    desired: DesiredState, current: CurrentState, overrides: Overrides
) -> Iterator[Blocker]:
    """Names are unique in an organisation: who registers one takes it over."""
    for name in sorted({*desired.tools, *current.offered}):
        there = current.registry.get(name)
        if there is None or current.is_ours(name):
            continue
        if there.is_built_in:
            yield Blocker(
                "capture",
                f"`{name}` is Letta's own tool: registering the server would take it"
                " away from every agent of the organisation",
                "rename the tool; a prefix helps",
            )
        elif name not in overrides.capture:
            yield Blocker(
                "capture",
                f"`{name}` belongs to {current.owner_of(there)}: registering the server takes it over",
                f"rename the tool, or name it: --allow-capture {name}",
            )


def _about_an_agent(
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
        there = current.registry.get(name)
        if there is None and name not in desired.tools:
            yield Blocker(
                "unknown-tool",
                f"{plan.name} has `{name}`, which the registry does not show",
                "plan again; it was deleted in between",
            )


def warnings(
    desired: DesiredState,
    current: CurrentState,
    agents: Sequence[AgentPlan],
    changes: Sequence[Change],
) -> Iterator[str]:
    """What a person should know; nothing of it stops the plan."""
    if current.backend == "code":
        yield from _about_letta_code(desired, current, changes)
    else:
        yield from _about_the_server(desired, current, agents)


def _about_letta_code(
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


def _about_the_server(
    desired: DesiredState, current: CurrentState, agents: Sequence[AgentPlan]
) -> Iterator[str]:
    version = _version(current.version)
    if version and version >= _REFUSES_PRIVATE and _is_private(desired.server_url):
        yield (
            f"Letta {current.version} refuses MCP servers at private addresses such as"
            f" {urlsplit(desired.server_url).hostname}, without an opt-out"
        )
    undeclared = sorted(n for n in current.offered if n not in desired.tools)
    if undeclared:
        yield (
            f"the MCP server also offers {_listed(undeclared)}, which the specs do not"
            " have; Letta registers them along, and agents keep them as they are"
        )
    skipped = [n for n in sorted(desired.tools) if n in current.offered]
    skipped = [n for n in skipped if current.offered[n].problem]
    skipped = [n for n in skipped if not desired.tools[n].attached]
    if skipped:
        yield f"Letta does not register {_listed(skipped)}: their schemas are not to its taste"
    yield from _about_tool_settings(desired, current, agents)
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
        yield from _about_tools_without_a_rule(agent)
        wanted = next(one for one in desired.agents if one.name == agent.name)
        state, tools = current.agents[agent.name], agent.tools_after
        added = added_rules(
            agent.rules_after, rule_needs(desired, wanted, state, current, tools)
        )
        told = contrary_rules(wanted, agent)
        shown = [rule_text(rule) for rule in added if rule not in told]
        if shown:
            yield (
                f"{agent.name} has rules that neither the specs nor a {agent.type} ask"
                f" for, and applying keeps them: {_listed(shown)}"
            )
        lost = [
            name
            for name in lost_tools(wanted, agent, current)
            if name not in current.registry or not current.registry[name].is_built_in
        ]
        if lost:
            yield (
                f"{agent.name} has lost {_listed(lost)} of others since the baseline of"
                f" {current.agents[agent.name].had_at}"
            )


def _about_tool_settings(
    desired: DesiredState, current: CurrentState, agents: Sequence[AgentPlan]
) -> Iterator[str]:
    """Settings that no spec makes; a tool that is registered again gets them back."""
    limits = [
        tool.settings.get(_LIMIT)
        for tool in current.registry.values()
        if tool.is_built_in
    ]
    usual = max(limits, key=limits.count, default=None)
    shown = []
    for name in sorted({name for agent in agents for name in agent.tools_after}):
        tool, is_ours = current.registry.get(name), current.is_ours(name)
        if tool is None or not (is_ours or tool.is_built_in):
            continue
        for key, value in tool.settings.items():
            if value != usual if key == _LIMIT else is_ours and value:
                shown.append(f"`{name}` {key} {value}")
    if shown:
        yield (
            "the registry holds what no spec says, and applying keeps it:"
            f" {', '.join(shown)}"
        )


def _about_tools_without_a_rule(agent: AgentPlan) -> Iterator[str]:
    if agent.type not in NEEDS_LOOP_RULES:
        return
    ruled = {r["tool_name"] for r in agent.rules_after if r["type"] in LOOP_RULES}
    without = [name for name in agent.tools_after if name not in ruled]
    if without:
        yield (
            f"{agent.name}, a {agent.type}, ends its turn at {_listed(without)}: no rule"
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


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
