"""Undo the changes that were applied since a baseline."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from ..block_parts import BlockTextError, insert_part
from ..plan.backend import Report
from ..plan.current_state import CurrentState
from ..plan.desired_state import DesiredState
from ..plan.tool_rules import are_same_rules
from ..state.baseline import Baseline, Baselines
from .api import LettaApi
from .reading import read_agent, read_current_state, read_parts, read_registry
from .registering import restore_settings
from .undoing import AgentUndo, Undo, build_undo


@dataclass(frozen=True)
class RollbackResult:
    """The result of a rollback.

    Attributes:
        agents: the number of agents that are in their previous state.
        lost: descriptions of tools, rules and memory blocks that could not be restored.
        stays: descriptions of changes that were not undone.
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
    """Return the effects that `roll_back` would have now, without changing anything.

    Raises:
        LettaError: a request failed.
        RestoreError: no agent of the baseline had a tool in `restore`.
    """
    current = read_current_state(api, desired)
    return _build_undo(api, desired, baseline, baselines, current, restore)


def roll_back(
    api: LettaApi,
    desired: DesiredState,
    baseline: Baseline,
    baselines: Baselines,
    report: Report = lambda line: None,
    restore: Collection[str] = (),
) -> RollbackResult:
    """Undo the changes that were applied since a baseline; keep changes by others.

    Because ids of the baseline can be outdated, tools are found in the registry by
    name. A tool that is not registered any more is registered again if the MCP server
    still offers it. Only agents that the desired state includes are changed.

    Args:
        api: the Letta server.
        desired: the desired state.
        baseline: the baseline to return to.
        baselines: the folder of the baselines, with the lock.
        report: receives a line for each step.
        restore: tools that others detached since then and that are attached again.

    Raises:
        LettaError: a request failed. Another rollback completes the work.
        RestoreError: no agent of the baseline had a tool in `restore`.
        ConcurrentRunError: an apply or another rollback is running.
    """
    with baselines.lock():
        current = read_current_state(api, desired)
        undo = _build_undo(api, desired, baseline, baselines, current, restore)
        for name in undo.register:
            api.register_tool(desired.server_name, name)
            report(f"registered {name} again")
        # A tool that was registered again has a new id.
        current = replace(current, registry=read_registry(api))
        if undo.register:
            settings = {
                name: baseline.settings[name]
                for name in undo.register
                if name in baseline.settings
            }
            restore_settings(api, settings, report)
        lost = [line for agent in undo.agents for line in agent.lost]
        restored = 0
        for agent in undo.agents:
            problems = _restore_agent(api, agent, current, report)
            if not problems:
                problems = _restore_blocks(api, agent, desired.toolset, report)
            lost += problems
            restored += not (problems or agent.lost)
        lost += undo.lost
        stays = [line for agent in undo.agents for line in agent.stays]
        stays += undo.stays
        # Close the baseline: the next apply must save a new one instead of continuing
        # it.
        baselines.finish(baseline)
        return RollbackResult(restored, tuple(lost), tuple(dict.fromkeys(stays)))


def _build_undo(
    api: LettaApi,
    desired: DesiredState,
    baseline: Baseline,
    baselines: Baselines,
    current: CurrentState,
    restore: Collection[str],
) -> Undo:
    # The user can select agents: the others of the baseline are not rolled back.
    agent_ids = {agent.id for agent in desired.agents}
    baseline = replace(
        baseline, agents=tuple(a for a in baseline.agents if a.id in agent_ids)
    )
    later = [
        other
        for other in baselines.list_all(baseline.toolset, baseline.base_url)
        if other.saved > baseline.saved
    ]
    parts = {
        agent.id: read_parts(api, agent.id, agent.blocks, desired.toolset)
        for agent in desired.agents
    }
    return build_undo(desired, baseline, later, current, restore, parts)


def _restore_agent(
    api: LettaApi, agent: AgentUndo, current: CurrentState, report: Report
) -> list[str]:
    """Set the tools and rules of an agent; return why that failed, or an empty list.

    An agent that has them already is not changed.
    """
    missing = [name for name in agent.tools if name not in current.registry]
    if missing:
        return [
            f"{agent.name} was not changed: `{name}` could not be registered again"
            for name in missing
        ]
    ids = [current.registry[name].id for name in agent.tools]
    state = read_agent(api, agent.id)
    has_tools = sorted(state.tools.values()) == sorted(ids)
    if has_tools and are_same_rules(state.rules, agent.rules):
        return []
    api.set_tools_and_rules(agent.id, ids, agent.rules)
    report(f"{agent.name}: {len(ids)} tools and {len(agent.rules)} rules restored")
    after = read_agent(api, agent.id)
    # Read the agent again: Letta has no conditional requests, so another client can
    # have changed the agent between the reading and the request.
    if sorted(after.tools) == sorted(agent.tools) and are_same_rules(
        after.rules, agent.rules
    ):
        return []
    return [
        f"{agent.name} differs from what was sent: another client changed it meanwhile"
    ]


def _restore_blocks(
    api: LettaApi, agent: AgentUndo, toolset: str, report: Report
) -> list[str]:
    """Write the specs' part of an agent's memory blocks; return why that failed.

    A block that was deleted, has invalid markers or would exceed its limit is not
    written.
    """
    problems = []
    for label, part in agent.blocks.items():
        # Read the block immediately before writing it: the agent can change the text
        # outside the markers at any time.
        received = api.find_block(agent.id, label)
        if received is None:
            problems.append(f"{agent.name}: the block `{label}` was deleted meanwhile")
            continue
        value, limit = received
        try:
            new = insert_part(value, part, toolset)
        except BlockTextError as error:
            problems.append(f"{agent.name}: the block `{label}`: {error}")
            continue
        if len(new) > limit:
            problems.append(
                f"{agent.name}: the block `{label}` would have {len(new)} characters; its"
                f" limit is {limit}"
            )
            continue
        api.write_block(agent.id, label, new)
        report(f"{agent.name}: the specs' part of the block `{label}` restored")
    return problems
