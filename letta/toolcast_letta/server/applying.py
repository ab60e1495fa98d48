"""Carries a plan out: the entry, the registry, each agent in one request, then what goes.

The order is chosen so that an agent never loses a tool before it has what replaces it, and
so that a run which ends anywhere can be started again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..plan.drift import agent_moved, moved
from ..plan.plan import AgentPlan, Plan
from ..plan.planning import make_plan
from .api import LettaApi
from .baseline import AgentBaseline, Baseline, Baselines
from .desired_state import Attachment
from .reading import read_agent, read_registry, read_world
from .registering import delete_leaving, ensure_entry, register
from .state import AgentState, World
from .tool_rules import same_rules

__all__ = ["Applied", "Refused", "apply_plan"]

Say = Callable[[str], None]


class Refused(Exception):
    """The plan is not carried out, or not further; the text says why, a line a reason."""


@dataclass(frozen=True)
class Applied:
    """What was done.

    Attributes:
        tools: the number of the toolset's tools, as they are attached now.
        rules: the number of rules of the agents.
        changed: whether anything had to be done.
        baseline: what was there before; None when nothing had to be done.
        missed: what is not as it should be behind it, because somebody else was at work.
    """

    tools: int
    rules: int
    changed: bool
    baseline: Baseline | None = None
    missed: tuple[str, ...] = ()


def apply_plan(
    plan: Plan,
    api: LettaApi,
    wish: Attachment,
    baselines: Baselines,
    say: Say = lambda line: None,
) -> Applied:
    """Carries a plan out.

    What remains: between the last look at an agent and the request that changes it, which
    follows it at once, Letta has no way to notice somebody else's change.

    Args:
        plan: made for this server and these wishes.
        api: the server.
        wish: what the plan was made from.
        baselines: where the baseline and the lock are.
        say: told each step.

    Raises:
        Refused: the plan has objections, the world has moved, or a step did not have its
            effect.
        LettaError: a request failed. Applying again completes what was begun.
        AnotherRun: another apply is under way.
    """
    if plan.objections:
        raise Refused("\n".join(objection.message for objection in plan.objections))
    if api.is_cloud:
        raise Refused(
            "this is Letta's cloud, where names and rules behave otherwise: nothing is"
            " changed there"
        )
    with baselines.exclusive():
        return _applied(plan, api, wish, baselines, say)


def _applied(
    plan: Plan, api: LettaApi, wish: Attachment, baselines: Baselines, say: Say
) -> Applied:
    world = read_world(api, wish)
    _stop_if_moved(moved(plan, api.base_url, wish, world))
    now = make_plan(api.base_url, wish, world, plan.permits)
    if now.objections:
        # Something that the plan does not hold, another agent with a tool that goes.
        raise Refused("\n".join(objection.message for objection in now.objections))
    if not now.changes:
        # Nothing, or all done by a run that ended just before it could say so.
        baselines.close(wish.toolset, api.base_url)
        return _result(plan, changed=False)
    baseline = baselines.begin(_baseline_of(wish, api.base_url, world))
    say(f"baseline saved: {baselines.path(baseline)}")
    world = ensure_entry(api, wish, world, say)
    register(api, wish, plan, world, baseline.settings, say)
    world = replace(world, registry=read_registry(api))
    _stop_if_unregistered(wish, world)
    for agent in plan.agents:
        _change_agent(api, agent, world, say)
    delete_leaving(api, plan, world, say)
    agents = {agent.name: read_agent(api, agent.id) for agent in plan.agents}
    missed = [
        line
        for agent in plan.agents
        for line in _differences(agent, agents[agent.name], world)
    ]
    if not missed:
        baselines.finish(baseline)
    return _result(plan, changed=True, baseline=baseline, missed=tuple(missed))


def _stop_if_moved(lines: list[str]) -> None:
    if lines:
        raise Refused(
            "\n".join(["the world has moved since the plan:", *lines, "plan again"])
        )


def _baseline_of(wish: Attachment, base_url: str, world: World) -> Baseline:
    return Baseline(
        wish.toolset,
        base_url,
        world.version,
        wish.server_name,
        tuple(AgentBaseline.of(name, state) for name, state in world.agents.items()),
        {name: dict(world.registry[name].settings) for name in world.own_names},
        {name: world.registry[name].digest for name in world.own_names},
        world.entry.id if world.entry else None,
    )


def _stop_if_unregistered(wish: Attachment, world: World) -> None:
    """Letta skips in silence; nobody is attached to what is not there."""
    lines = []
    for name in wish.canonical:
        tool = world.registry.get(name)
        if tool is None:
            lines.append(f"`{name}` is not in Letta's registry, although it was sent")
        elif not world.is_ours(name):
            lines.append(f"`{name}` belongs to another owner in Letta's registry")
        elif tool.digest != wish.tools[name].digest:
            lines.append(f"`{name}` is in the registry with another text or schema")
    for agent in wish.agents:
        lines += [
            f"`{name}`, which {agent.name} must have, is not in the registry"
            for name in sorted(agent.expects)
            if name not in world.registry
        ]
    if lines:
        raise Refused(
            "\n".join(["no agent was touched:", *lines, "look into Letta's log"])
        )


def _change_agent(api: LettaApi, plan: AgentPlan, world: World, say: Say) -> None:
    """Both fields in one request, behind a last look at what is there."""
    state = read_agent(api, plan.id)
    _stop_if_moved(list(agent_moved(plan, state, world)))
    unknown = [name for name in plan.after if name not in world.registry]
    if unknown:
        _stop_if_moved(
            [f"`{name}` is not in the registry any more" for name in unknown]
        )
    if not _differences(plan, state, world):
        return
    ids = [world.registry[name].id for name in plan.after]
    api.set_tools_and_rules(plan.id, ids, plan.rules_after)
    say(
        f"{plan.name}: {len(plan.after)} tools and {len(plan.rules_after)} rules"
        " in one request"
    )


def _differences(plan: AgentPlan, state: AgentState, world: World) -> list[str]:
    """How an agent differs from what the plan leaves."""
    lines = []
    wanted = {name: world.registry[name].id for name in plan.after}
    for name in sorted({*wanted, *state.tools}):
        if name not in state.tools:
            lines.append(f"{plan.name} does not have `{name}`")
        elif name not in wanted:
            lines.append(f"{plan.name} has `{name}`, which somebody else attached")
        elif state.tools[name] != wanted[name]:
            lines.append(f"{plan.name} has `{name}` by an id that is not its own")
    if not same_rules(state.rules, plan.rules_after):
        lines.append(f"{plan.name} has other rules than those that were sent")
    return lines


def _result(
    plan: Plan,
    *,
    changed: bool,
    baseline: Baseline | None = None,
    missed: tuple[str, ...] = (),
) -> Applied:
    first = plan.agents[0] if plan.agents else None
    return Applied(
        len(first.after) if first else 0,
        len(first.rules_after) if first else 0,
        changed,
        baseline,
        missed,
    )
