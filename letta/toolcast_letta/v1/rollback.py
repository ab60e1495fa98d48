"""Puts back what a baseline says, and tells what cannot be put back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..plan.backend import Report
from ..plan.current_state import AgentState, CurrentState
from ..plan.desired_state import DesiredState
from ..plan.tool_rules import same_rules
from .api import LettaApi
from .baseline import AgentBaseline, Baseline, Baselines
from .reading import read_agent, read_current, read_registry

__all__ = ["RolledBack", "roll_back"]


@dataclass(frozen=True)
class RolledBack:
    """What came of it.

    Attributes:
        agents: how many agents are as they were.
        lost: what is not as it was and cannot be brought back from here.
        stays: what is left as it is now, on purpose.
    """

    agents: int
    lost: tuple[str, ...]
    stays: tuple[str, ...]


def roll_back(
    api: LettaApi,
    desired: DesiredState,
    baseline: Baseline,
    baselines: Baselines,
    report: Report = lambda line: None,
) -> RolledBack:
    """Gives each agent the tools and rules of the baseline, by the tools' names.

    What others attached since then stays, with its rules. Ids of the baseline may be
    dead, so every name is looked up in the registry; a tool that is not there any more is
    registered again where the MCP server still offers it.

    Raises:
        LettaError: a request failed. Rolling back again completes it.
        AnotherRun: an apply or another rollback is under way.
    """
    with baselines.exclusive():
        current = read_current(api, desired)
        current = _registered_again(api, desired, baseline, current, report)
        lost: list[str] = []
        stays: list[str] = []
        restored = 0
        for agent in baseline.agents:
            problems = _restore(api, desired, agent, current, report, stays)
            lost += problems
            restored += not problems
        stays += _left(desired, baseline, current)
        baselines.finish(baseline)
        return RolledBack(restored, tuple(lost), tuple(dict.fromkeys(stays)))


def _registered_again(
    api: LettaApi,
    desired: DesiredState,
    baseline: Baseline,
    current: CurrentState,
    report: Report,
) -> CurrentState:
    wanted = {name for agent in baseline.agents for name in agent.tools}
    missing = [name for name in sorted(wanted) if name not in current.registry]
    missing = [name for name in missing if name in current.offered]
    if not missing or current.entry is None:
        return current
    for name in missing:
        api.register(desired.server_name, name)
        report(f"registered {name} again")
    return replace(current, registry=read_registry(api))


def _restore(
    api: LettaApi,
    desired: DesiredState,
    before: AgentBaseline,
    current: CurrentState,
    report: Report,
    stays: list[str],
) -> list[str]:
    """Puts one agent back; what could not be."""
    state = read_agent(api, before.id)
    lost = [
        f"{before.name}: `{name}` is not in the registry; deploy the MCP server that had"
        " it, then roll back again"
        for name in before.tools
        if name not in current.registry
    ]
    back = [name for name in before.tools if name in current.registry]
    ours = {*desired.canonical, *desired.removed_names, *current.own_names}
    ours |= {name for agent in desired.agents for name in agent.expects}
    added = [
        name
        for name in state.tools
        if name not in before.tools and name not in ours and name in current.registry
    ]
    stays += [f"{before.name}: `{name}`, attached since then" for name in added]
    names = [*back, *added]
    rules = _rules(before, state, {*names}, ours)
    lost += [
        f"{before.name}: the rule {rule['type']} of `{rule['tool_name']}`"
        for rule in before.rules
        if rule not in rules
    ]
    ids = [current.registry[name].id for name in names]
    is_there = sorted(state.tools.values()) == sorted(ids)
    if not (is_there and same_rules(state.rules, rules)):
        api.set_tools_and_rules(before.id, ids, rules)
        report(f"{before.name}: {len(ids)} tools and {len(rules)} rules put back")
        after = read_agent(api, before.id)
        if sorted(after.tools) != sorted(names) or not same_rules(after.rules, rules):
            lost.append(
                f"{before.name} is not as it was sent; somebody else is at work"
            )
    return lost


def _rules(
    before: AgentBaseline, state: AgentState, attached: set[str], ours: set[str]
) -> list[Mapping[str, Any]]:
    """Those of the baseline, and those that others made since then."""
    unknown = set(before.tools) - attached
    kept = [rule for rule in before.rules if rule["tool_name"] not in unknown]
    for rule in state.rules:
        is_new = not any(same_rules([rule], [one]) for one in before.rules)
        if is_new and rule["tool_name"] not in ours:
            kept.append(rule)
    return kept


def _left(
    desired: DesiredState, baseline: Baseline, current: CurrentState
) -> list[str]:
    """What no request of this command brings back."""
    lines = []
    if current.entry is not None and baseline.entry is None:
        lines.append(f"the entry {desired.server_name}, created since then")
    for name in current.own_names:
        digest = baseline.registry.get(name)
        if digest is None:
            lines.append(f"`{name}`, registered since then")
        elif digest != current.registry[name].digest:
            lines.append(
                f"the text or schema of `{name}`: deploy the MCP server as it was, and apply"
            )
    for name in baseline.registry:
        if name not in current.registry:
            lines.append(f"`{name}`, deleted from the registry since then")
    return lines
