"""Warnings: risks of a plan that do not block it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from .blockers import parse_version
from .core_tools import list_conflicting_rules
from .current_state import CurrentState
from .desired_state import DesiredState
from .plan import AgentPlan, Change
from .tool_rules import (
    LOOP_RULES,
    TYPES_WITH_LOOP_RULES,
    build_rule_needs,
    format_names,
    format_rule,
    is_stale,
    list_unneeded_rules,
)

_PRIVATE_ADDRESSES_REFUSED_SINCE = (0, 16, 7)
_WAITING_TOOLS = frozenset(
    ["send_message_to_agent_and_wait_for_reply", "send_message_to_agents_matching_tags"]
)
_RETURN_LIMIT = "return_char_limit"


def list_warnings(
    desired: DesiredState,
    current: CurrentState,
    agents: Sequence[AgentPlan],
    changes: Sequence[Change],
) -> Iterator[str]:
    """Yield risks that the user should know of and that do not block the plan."""
    if current.backend == "code":
        yield from _list_settings_file_warnings(desired, current, changes)
    else:
        yield from _list_server_warnings(desired, current, agents)


def _list_settings_file_warnings(
    desired: DesiredState, current: CurrentState, changes: Sequence[Change]
) -> Iterator[str]:
    """Yield settings that Letta Code ignores, and risks of changing its settings file."""
    tools = desired.tools
    approved = sorted(name for name, tool in tools.items() if tool.requires_approval)
    if approved:
        yield (
            f"Letta Code ignores `requires_approval` of {', '.join(approved)}: it has its"
            " own permissions"
        )
    unattached = sorted(name for name, tool in tools.items() if not tool.attached)
    if unattached:
        yield (
            "Letta Code gives agents every offered tool, including tools that are not"
            f" attached: {', '.join(unattached)}"
        )
    for change in changes:
        state = current.agents[change.agent]
        if state.home not in state.known_homes:
            home = state.home or "Letta's cloud"
            yield (
                f"the settings file has no entry for {change.agent}; applying adds"
                f" {state.id} on {home}"
            )
    if changes:
        yield "a running Letta Code can overwrite the changes with its older settings"


def _list_server_warnings(
    desired: DesiredState, current: CurrentState, agents: Sequence[AgentPlan]
) -> Iterator[str]:
    version = parse_version(current.version)
    if (
        version
        and version >= _PRIVATE_ADDRESSES_REFUSED_SINCE
        and _is_private(desired.server_url)
    ):
        yield (
            f"Letta {current.version} refuses MCP servers at private addresses such as"
            f" {urlsplit(desired.server_url).hostname}; no setting allows them"
        )
    undeclared = sorted(name for name in current.offered if name not in desired.tools)
    if undeclared:
        yield (
            f"the MCP server also offers {format_names(undeclared)}, which no spec"
            " declares; Letta registers them too, and their attachments do not change"
        )
    skipped = [
        name
        for name, tool in sorted(desired.tools.items())
        if not tool.attached
        and name in current.offered
        and current.offered[name].problem
    ]
    if skipped:
        yield (
            "Letta does not register tools whose schemas it does not accept:"
            f" {format_names(skipped)}"
        )
    yield from _list_tool_setting_warnings(desired, current, agents)
    for agent in agents:
        # Letta Code sets this tag on the agents that it opens.
        if "origin:letta-code" in current.agents[agent.name].tags:
            yield (
                f"Letta Code opens {agent.name} and removes all its rules when it starts:"
                " verify again later"
            )
        for rule in agent.rules_after:
            if is_stale(rule, agent.tools_after) and rule["tool_name"]:
                yield (
                    f"the rule {rule['type']} of `{rule['tool_name']}` of {agent.name}"
                    " refers to a tool that is not attached, and misleads the model; pass"
                    f" --drop-stale {rule['tool_name']} to remove it"
                )
        inert = [
            format_rule(rule)
            for rule in agent.rules_after
            if rule["tool_name"] not in agent.tools_after
            and not is_stale(rule, agent.tools_after)
        ]
        if inert:
            yield (
                f"{agent.name} has rules of tools that are not attached, which have no"
                f" effect: {format_names(inert)}"
            )
        yield from _list_loop_rule_warnings(agent)
        desired_agent = next(a for a in desired.agents if a.name == agent.name)
        state, tools = current.agents[agent.name], agent.tools_after
        waiting = sorted(
            _WAITING_TOOLS.intersection(tools).difference(desired_agent.expects)
        )
        if waiting:
            yield (
                f"{agent.name} has {format_names(waiting)}, which waits for another agent's"
                " turn: a message to itself blocks its own turn; list it in `forbids`, or"
                " in `expects` if the agent needs it"
            )
        unneeded = list_unneeded_rules(
            agent.rules_after,
            build_rule_needs(desired, desired_agent, state, current, tools),
        )
        conflicting = list_conflicting_rules(desired_agent, agent)
        rules = [format_rule(rule) for rule in unneeded if rule not in conflicting]
        if rules:
            yield (
                f"{agent.name} has rules that neither the specs nor the type {agent.type}"
                f" require, and applying keeps them: {format_names(rules)}"
            )


def _list_tool_setting_warnings(
    desired: DesiredState, current: CurrentState, agents: Sequence[AgentPlan]
) -> Iterator[str]:
    """Yield one warning that lists settings of registered tools that no spec declares.

    Registering a tool again would reset them; apply restores them.
    """
    limits = [
        tool.settings.get(_RETURN_LIMIT)
        for tool in current.registry.values()
        if tool.is_built_in
    ]
    # No request returns the server's default limit, so the most frequent limit of the
    # built-in tools is taken as the default.
    default_limit = max(limits, key=limits.count, default=None)
    undeclared = []
    for name in sorted({name for agent in agents for name in agent.tools_after}):
        tool, is_own = current.registry.get(name), current.is_own_tool(name)
        if tool is None or not (is_own or tool.is_built_in):
            continue
        for key, value in tool.settings.items():
            if key == _RETURN_LIMIT:
                is_undeclared = value != default_limit
            else:
                is_undeclared = is_own and bool(value)
            if is_undeclared:
                undeclared.append(f"`{name}` {key} {value}")
    if undeclared:
        yield (
            "the registry has settings that no spec declares, and applying keeps them:"
            f" {', '.join(undeclared)}"
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
            f"{agent.name}, a {agent.type}, ends its turn after tools that have no rule to"
            f" continue: {format_names(names_without_rule)}; applying does not change the"
            " rules of other owners' tools"
        )


def _is_private(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    # Names with these endings are used only in private networks.
    if host == "localhost" or host.endswith((".local", ".svc", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        # The host is a name, whose address is not looked up.
        return False
