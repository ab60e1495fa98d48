"""Undoes what applies did since a baseline, and tells what cannot be undone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from ..plan.backend import Report
from ..plan.current_state import CurrentState
from ..plan.desired_state import DesiredState
from ..plan.tool_rules import are_same_rules
from ..state.baseline import Baseline, Baselines
from .api import LettaApi
from .reading import read_agent, read_current_state, read_registry
from .registering import restore_settings
from .undoing import AgentUndo, Undo, build_undo


@dataclass(frozen=True)
class RollbackResult:
    """What came of it.

    Attributes:
        agents: how many agents are as they were.
        lost: what is not as it was and cannot be brought back from here.
        stays: what is left as it is now, on purpose.
    """

    agents: int
    lost: tuple[str, ...]
    stays: tuple[str, ...]


def preview_rollback(
    api: LettaApi,
    desired: DesiredState,
    baseline: Baseline,
    baselines: Baselines,
    restore: Collection[str] = (),
) -> Undo:
    """What `roll_back` would do now; changes nothing.

    Raises:
        LettaError: a request failed.
    """
    current = read_current_state(api, desired)
    return _build_undo(desired, baseline, baselines, current, restore)


def roll_back(
    api: LettaApi,
    desired: DesiredState,
    baseline: Baseline,
    baselines: Baselines,
    report: Report = lambda line: None,
    restore: Collection[str] = (),
) -> RollbackResult:
    """Undoes the applies since a baseline, by the tools' names.

    What others did since then stays. Ids of the baseline may be dead, so every name is
    looked up in the registry; a tool that is not there any more is registered again where
    the MCP server still offers it. Only the baseline's agents that `desired` has are
    touched.

    Raises:
        LettaError: a request failed. Rolling back again completes it.
        ConcurrentRunError: an apply or another rollback is under way.
    """
    with baselines.lock():
        current = read_current_state(api, desired)
        undo = _build_undo(desired, baseline, baselines, current, restore)
        for name in undo.register:
            api.register_tool(desired.server_name, name)
            report(f"registered {name} again")
        current = replace(current, registry=read_registry(api))
        if undo.register:
            again = {
                name: baseline.settings[name]
                for name in undo.register
                if name in baseline.settings
            }
            restore_settings(api, again, report)
        lost = [line for agent in undo.agents for line in agent.lost]
        restored = 0
        for agent in undo.agents:
            problem = _restore_agent(api, agent, current, report)
            lost += problem
            restored += not (problem or agent.lost)
        lost += undo.lost
        stays = [line for agent in undo.agents for line in agent.stays]
        stays += undo.stays
        baselines.finish(baseline)
        return RollbackResult(restored, tuple(lost), tuple(dict.fromkeys(stays)))


def _build_undo(
    desired: DesiredState,
    baseline: Baseline,
    baselines: Baselines,
    current: CurrentState,
    restore: Collection[str],
) -> Undo:
    chosen = {agent.id for agent in desired.agents}
    baseline = replace(
        baseline, agents=tuple(a for a in baseline.agents if a.id in chosen)
    )
    every = baselines.list_all(baseline.toolset, baseline.base_url)
    later = [one for one in every if one.saved > baseline.saved]
    return build_undo(desired, baseline, later, current, restore)


def _restore_agent(
    api: LettaApi, agent: AgentUndo, current: CurrentState, report: Report
) -> list[str]:
    """Gives one agent its tools and rules; why it has not got them."""
    missing = [name for name in agent.tools if name not in current.registry]
    if missing:
        return [
            f"{agent.name} was not touched: `{name}` could not be registered again"
            for name in missing
        ]
    ids = [current.registry[name].id for name in agent.tools]
    state = read_agent(api, agent.id)
    is_there = sorted(state.tools.values()) == sorted(ids)
    if is_there and are_same_rules(state.rules, agent.rules):
        return []
    api.set_tools_and_rules(agent.id, ids, agent.rules)
    report(f"{agent.name}: {len(ids)} tools and {len(agent.rules)} rules put back")
    after = read_agent(api, agent.id)
    if sorted(after.tools) == sorted(agent.tools) and are_same_rules(
        after.rules, agent.rules
    ):
        return []
    return [f"{agent.name} is not as it was sent; somebody else is at work"]
