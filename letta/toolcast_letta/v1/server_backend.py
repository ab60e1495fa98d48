"""A Letta server: what is there is read, and a plan is carried out.

First the entry, then the registry, each agent in one request, then what goes. The order is
chosen so that an agent never loses a tool before it has what replaces it, and so that a run
which ends anywhere can be started again.
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
from .reading import read_agent, read_current_state, read_registry
from .registering import delete_obsolete_tools, ensure_entry, register_tools
from .tool_checks import run_agent_checks


@dataclass(frozen=True)
class ServerBackend:
    """A Letta server, 0.13 to 0.16.

    Attributes:
        api: the server.
        baselines: where the baseline and the lock are.
    """

    api: LettaApi
    baselines: Baselines

    @property
    def location(self) -> str:
        """The URL of the server."""
        return self.api.base_url

    @property
    def refusal(self) -> str:
        """Why nothing is changed there."""
        if not self.api.is_cloud:
            return ""
        return (
            "this is Letta's cloud, where names and rules behave otherwise: nothing is"
            " changed there"
        )

    def read(self, desired: DesiredState) -> CurrentState:
        """Everything that a plan looks at."""
        current = read_current_state(self.api, desired)
        kept = self.baselines.list_all(desired.toolset, self.location)
        return replace(
            current,
            agents={
                name: _add_baseline(state, desired, kept)
                for name, state in current.agents.items()
            },
        )

    def lock(self) -> AbstractContextManager[None]:
        """Holds the lock of the baselines' folder."""
        return self.baselines.lock()

    def close_interrupted_run(self, desired: DesiredState) -> None:
        """Closes what a run left open that ended just before it could say so."""
        self.baselines.finish_latest(desired.toolset, self.location)

    def execute(
        self, plan: Plan, desired: DesiredState, current: CurrentState, report: Report
    ) -> ApplyResult:
        """Saves what is there, and changes it."""
        api = self.api
        baseline = self.baselines.begin(_build_baseline(plan, desired, current))
        file = self.baselines.path(baseline)
        report(f"baseline saved: {file}")
        for line in self.baselines.list_foreign_files(desired.toolset):
            report(f"left out: {line}")
        current = ensure_entry(api, desired, current, report)
        # A tool that gets another name is still that tool.
        settings = {
            baseline.renamed.get(name, name): kept
            for name, kept in baseline.settings.items()
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
        if not missed:
            self.baselines.finish(baseline)
        return build_apply_result(
            plan, changed=True, baseline=str(file), missed=tuple(missed)
        )

    def count_tools(
        self, desired: DesiredState, current: CurrentState
    ) -> Iterator[AgentCount]:
        """The number of each agent's tools, and of those in the newest baseline."""
        kept = self.baselines.list_all(desired.toolset, self.location)
        for agent in desired.agents:
            before = kept[-1].find_agent(agent.id) if kept else None
            yield AgentCount(
                agent.name,
                tuple(sorted(current.agents[agent.name].tools)),
                len(desired.canonical),
                None if before is None else tuple(sorted(before.tools)),
            )

    def run_checks(
        self, desired: DesiredState, current: CurrentState, calls: CallOptions
    ) -> Iterator[CheckResult]:
        """Calls what is to be called, agent by agent."""
        for agent in desired.agents:
            yield from run_agent_checks(self.api, desired, agent, current, calls)


def _add_baseline(
    state: AgentState, desired: DesiredState, kept: list[Baseline]
) -> AgentState:
    """An agent, with what the newest baseline left it of others' tools."""
    for baseline in reversed(kept):
        before = baseline.find_agent(state.id)
        if before is not None:
            ours = {*desired.tools, *desired.removed_names, *baseline.registry}
            ours |= {*baseline.renamed.values()}
            had = tuple(name for name in before.tools_after if name not in ours)
            return replace(
                state, baseline_tools=had, baseline_time=baseline.saved[:19] + "Z"
            )
    return state


def _build_baseline(
    plan: Plan, desired: DesiredState, current: CurrentState
) -> Baseline:
    after = {agent.name: agent for agent in plan.agents}
    return Baseline(
        desired.toolset,
        plan.location,
        current.version,
        desired.server_name,
        tuple(
            AgentBaseline.from_state(
                name, state, after[name].tools_after, after[name].rules_after
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
    """Letta skips in silence; nobody is attached to what is not there."""
    lines = []
    for name in desired.canonical:
        tool = current.registry.get(name)
        if tool is None:
            lines.append(f"`{name}` is not in Letta's registry, although it was sent")
        elif not current.is_own_tool(name):
            lines.append(f"`{name}` belongs to another owner in Letta's registry")
        elif not current.is_up_to_date(desired.tools[name]):
            lines.append(
                f"`{name}` is in the registry with another text, schema or tag"
            )
    for agent in desired.agents:
        lines += [
            f"`{name}`, which {agent.name} must have, is not in the registry"
            for name in agent.expected
            if name not in current.registry
        ]
    if lines:
        raise PlanRefusedError(
            "\n".join(["no agent was touched:", *lines, "look into Letta's log"])
        )


def _update_agent(
    api: LettaApi, plan: AgentPlan, current: CurrentState, report: Report
) -> None:
    """Both fields in one request, behind a last look at what is there."""
    state = read_agent(api, plan.id)
    raise_if_changed(list(list_agent_changes_since(plan, state, current)))
    unknown = [name for name in plan.tools_after if name not in current.registry]
    if unknown:
        raise_if_changed(
            [f"`{name}` is not in the registry any more" for name in unknown]
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
    """How an agent differs from what the plan leaves."""
    lines = []
    wanted = {name: current.registry[name].id for name in plan.tools_after}
    for name in sorted({*wanted, *state.tools}):
        if name not in state.tools:
            lines.append(f"{plan.name} does not have `{name}`")
        elif name not in wanted:
            lines.append(f"{plan.name} has `{name}`, which somebody else attached")
        elif state.tools[name] != wanted[name]:
            lines.append(f"{plan.name} has `{name}` by an id that is not its own")
    if not are_same_rules(state.rules, plan.rules_after):
        lines.append(f"{plan.name} has other rules than those that were sent")
    return lines
