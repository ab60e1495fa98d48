"""The backend for a Letta server: read its state and execute plans.

The order is: entry, registry, each agent in one request, deletions. So an agent never
loses a tool before it has the replacement, and a run that was interrupted at any point
can be started again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from ..plan.applying import build_apply_result, raise_if_changed
from ..plan.backend import (
    AgentCount,
    ApplyResult,
    CallOptions,
    CheckResult,
    PlanRefusedError,
    Report,
)
from ..plan.changes_since import list_agent_changes_since
from ..plan.current_state import AgentState, CurrentState
from ..plan.desired_state import DesiredState
from ..plan.plan import AgentPlan, Plan
from ..plan.tool_rules import are_same_rules
from ..state.baseline import AgentBaseline, Baseline, Baselines
from .api import LettaApi
from .reading import read_agent, read_current_state, read_parts, read_registry
from .registering import delete_obsolete_tools, ensure_entry, register_tools
from .tool_checks import run_agent_checks


@dataclass(frozen=True)
class ServerBackend:
    """A Letta server, version 0.13 to 0.16.

    Attributes:
        api: the server.
        baselines: the folder with the baselines and the lock.
    """

    api: LettaApi
    baselines: Baselines

    @property
    def location(self) -> str:
        """The URL of the server."""
        return self.api.base_url

    @property
    def refusal(self) -> str:
        """Why plans cannot be applied: the server is Letta's cloud; else empty."""
        if not self.api.is_cloud:
            return ""
        return (
            "Letta's cloud is not supported for changes: names and rules behave"
            " differently there"
        )

    def read(self, desired: DesiredState) -> CurrentState:
        """Read the current state; add data of the newest baselines to its agents."""
        current = read_current_state(self.api, desired)
        saved = self.baselines.list_all(desired.toolset, self.location)
        return replace(
            current,
            agents={
                name: _add_baseline(state, desired, saved)
                for name, state in current.agents.items()
            },
        )

    def lock(self) -> AbstractContextManager[None]:
        """Return a context manager that locks the folder of the baselines."""
        return self.baselines.lock()

    def record_unchanged(self, plan: Plan, desired: DesiredState) -> None:
        """Mark the newest baseline as complete, and record accepted losses in it.

        This completes an apply that was interrupted after its last change, but before
        it marked its baseline.
        """
        accepted = {agent.id: agent.accepted_losses for agent in plan.agents}
        self.baselines.finish_latest(desired.toolset, self.location, accepted)

    def execute(
        self, plan: Plan, desired: DesiredState, current: CurrentState, report: Report
    ) -> ApplyResult:
        """Save the current state as a baseline, and apply the plan's changes.

        Differences that exist afterwards are returned as `missed`; the baseline then
        stays open, and the next apply continues it.
        """
        api = self.api
        baseline = self.baselines.start(_build_baseline(api, plan, desired, current))
        file = self.baselines.path(baseline)
        report(f"baseline saved: {file}")
        for line in self.baselines.list_foreign_files(desired.toolset):
            report(f"ignored: {line}")
        # In this order, an agent never lacks a tool while it is being replaced, and
        # each step can be repeated after an interruption.
        current = ensure_entry(api, desired, current, report)
        # A tool that was renamed gets the settings of its previous name.
        settings = {
            baseline.renamed.get(name, name): tool_settings
            for name, tool_settings in baseline.settings.items()
        }
        register_tools(api, desired, plan, current, settings, report)
        current = replace(current, registry=read_registry(api))
        _raise_if_unregistered(desired, current)
        for agent in plan.agents:
            _update_agent(api, agent, current, report)
        delete_obsolete_tools(api, plan, current, report)
        missed = [
            line
            for agent in plan.agents
            for line in _list_differences(agent, read_agent(api, agent.id), current)
        ]
        # Finish the baseline only if no difference remains: the next apply continues an
        # unfinished one.
        if not missed:
            self.baselines.finish(baseline)
        return build_apply_result(
            plan, changed=True, baseline=str(file), missed=tuple(missed)
        )

    def count_tools(
        self, desired: DesiredState, current: CurrentState
    ) -> Iterator[AgentCount]:
        """Yield the tools that each agent has, and the tools before the last `apply`.

        The tools before `apply` are None if no baseline file contains the agent.
        """
        saved = self.baselines.list_all(desired.toolset, self.location)
        for agent in desired.agents:
            before = next(
                filter(None, (b.find_agent(agent.id) for b in saved[::-1])), None
            )
            yield AgentCount(
                agent.name,
                tuple(sorted(current.agents[agent.name].tools)),
                len(desired.canonical),
                None if before is None else tuple(sorted(before.tools_before)),
            )

    def run_checks(
        self, desired: DesiredState, current: CurrentState, calls: CallOptions
    ) -> Iterator[CheckResult]:
        """Call each agent's selected tools through Letta, and yield the results."""
        for agent in desired.agents:
            yield from run_agent_checks(self.api, desired, agent, current, calls)


def _add_baseline(
    state: AgentState, desired: DesiredState, saved: list[Baseline]
) -> AgentState:
    """Return an agent's state with the fields that come from its newest baseline.

    `baseline_tools` has the tools of other owners that this baseline's apply left
    attached, and those that were lost before. Without a baseline of the agent, the
    state is returned unchanged.
    """
    for baseline in reversed(saved):
        before = baseline.find_agent(state.id)
        if before is not None:
            # The toolset's own tools, also under previous names, cannot be lost: an
            # apply decides about them.
            own_names = {*desired.tools, *desired.removed_names, *baseline.registry}
            own_names |= {*baseline.renamed.values()}
            own_names |= {*before.accepted_losses}
            known = {
                name: tuple(r for r in before.rules_after if r["tool_name"] == name)
                for name in before.tools_after
            }
            for name, rules in before.lost.items():
                known[name] = (*known.get(name, ()), *rules)
            return replace(
                state,
                baseline_tools={k: v for k, v in known.items() if k not in own_names},
                accepted_losses=before.accepted_losses,
                baseline_time=baseline.saved[:19] + "Z",
            )
    return state


def _build_baseline(
    api: LettaApi, plan: Plan, desired: DesiredState, current: CurrentState
) -> Baseline:
    after = {agent.name: agent for agent in plan.agents}
    labels = {agent.name: agent.blocks for agent in desired.agents}
    return Baseline(
        desired.toolset,
        plan.location,
        current.version,
        desired.server_name,
        tuple(
            AgentBaseline(
                name,
                state.id,
                state.type,
                dict(state.tools),
                state.rules,
                after[name].tools_after,
                after[name].rules_after,
                after[name].lost,
                after[name].accepted_losses,
                read_parts(api, state.id, labels[name], desired.toolset),
            )
            for name, state in current.agents.items()
        ),
        {name: dict(current.registry[name].settings) for name in current.own_names},
        {name: current.registry[name].digest for name in current.own_names},
        current.entry.id if current.entry else None,
        {
            old: new
            for old, new in desired.removed_names.items()
            if current.is_own_tool(old)
        },
        {name: tuple(agents) for name, agents in current.holders.items()},
    )


def _raise_if_unregistered(desired: DesiredState, current: CurrentState) -> None:
    """Raise an error if a desired or expected tool is not registered as it should be.

    Letta skips tools without an error, so this check runs before agents are changed.

    Raises:
        PlanRefusedError: a tool is missing, outdated, or belongs to another owner.
    """
    lines = []
    for name in desired.canonical:
        tool = current.registry.get(name)
        if tool is None:
            lines.append(f"Letta did not register `{name}`")
        elif not current.is_own_tool(name):
            lines.append(f"`{name}` in the registry belongs to another owner")
        elif not current.is_up_to_date(desired.tools[name]):
            lines.append(
                f"the description, schema or tag of `{name}` in the registry is wrong"
            )
    for agent in desired.agents:
        lines += [
            f"`expects` of {agent.name} lists `{name}`, which is not in the registry"
            for name in agent.expected
            if name not in current.registry
        ]
    if lines:
        raise PlanRefusedError(
            "\n".join(
                ["no agent was changed:", *lines, "see Letta's log for the reason"]
            )
        )


def _update_agent(
    api: LettaApi, plan: AgentPlan, current: CurrentState, report: Report
) -> None:
    """Set an agent's tools and rules in one request, unless they are as planned.

    The agent is read again immediately before, because Letta has no conditional
    requests.

    Raises:
        PlanRefusedError: another client changed the agent since the plan, or a planned
            tool is not registered any more.
    """
    state = read_agent(api, plan.id)
    raise_if_changed(list(list_agent_changes_since(plan, state, current)))
    unknown = [name for name in plan.tools_after if name not in current.registry]
    if unknown:
        raise_if_changed(
            [f"`{name}` was removed from the registry" for name in unknown]
        )
    if not _list_differences(plan, state, current):
        return
    ids = [current.registry[name].id for name in plan.tools_after]
    api.set_tools_and_rules(plan.id, ids, plan.rules_after)
    report(
        f"{plan.name}: {len(plan.tools_after)} tools and {len(plan.rules_after)} rules"
        " in one request"
    )


def _list_differences(
    plan: AgentPlan, state: AgentState, current: CurrentState
) -> list[str]:
    """Return descriptions of how an agent differs from the plan's resulting state."""
    lines = []
    tool_ids = {name: current.registry[name].id for name in plan.tools_after}
    for name in sorted({*tool_ids, *state.tools}):
        if name not in state.tools:
            lines.append(f"{plan.name} does not have `{name}`")
        elif name not in tool_ids:
            lines.append(f"another client attached `{name}` to {plan.name}")
        elif state.tools[name] != tool_ids[name]:
            lines.append(f"{plan.name} has an outdated id of `{name}`")
    if not are_same_rules(state.rules, plan.rules_after):
        lines.append(f"the rules of {plan.name} differ from what was sent")
    return lines
