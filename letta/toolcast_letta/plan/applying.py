"""Carries a plan out, or stops when something has changed since it was made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .backend import ApplyResult, Backend, PlanRefusedError, Report
from .changes_since import list_changes_since
from .desired_state import DesiredState
from .plan import Plan
from .planning import build_plan
from .tool_rules import are_same_rules


def apply_plan(
    plan: Plan,
    backend: Backend,
    desired: DesiredState,
    report: Report = lambda line: None,
) -> ApplyResult:
    """Carries a plan out.

    What remains: between the last look at an agent and the request that changes it, which
    follows it at once, Letta has no way to notice somebody else's change.

    Args:
        plan: made for this place and what is desired.
        backend: what is read and changed.
        desired: what the plan was made from.
        report: is given each step.

    Raises:
        PlanRefusedError: the plan has blockers, something has changed since, or a step did not
            have its effect.
        ConcurrentRunError: another apply is under way.
        BackendError: as of `carry_out`.
    """
    _raise_if_blocked(plan)
    if backend.refusal:
        raise PlanRefusedError(backend.refusal)
    with backend.lock():
        current = backend.read(desired)
        changes = list_changes_since(plan, backend.location, desired, current)
        raise_if_changed(changes)
        # What is carried out is derived anew; what was saved only says what was agreed to.
        new_plan = build_plan(backend.location, desired, current, plan.overrides)
        # Something that the plan does not hold, another agent with a tool that goes.
        _raise_if_blocked(new_plan)
        raise_if_changed(list(_compare_outcomes(plan, new_plan)))
        if not new_plan.changes:
            backend.close_interrupted_run(desired)
            return build_apply_result(new_plan, changed=False)
        return backend.execute(new_plan, desired, current, report)


def _compare_outcomes(plan: Plan, new_plan: Plan) -> Iterator[str]:
    """Where a plan ends that is not where the specs lead now."""
    for name, (_, after) in new_plan.registry.items():
        if name in plan.registry and plan.registry[name][1] != after:
            yield f"the specs do not lead to what the plan does to `{name}`"
    agents = {agent.name: agent for agent in new_plan.agents}
    if set(agents) != {agent.name for agent in plan.agents}:
        yield "the agents are others"
        return
    for agent in plan.agents:
        new_agent = agents[agent.name]
        if (agent.id, agent.home, agent.servers_after) != (
            new_agent.id,
            new_agent.home,
            new_agent.servers_after,
        ):
            yield f"the specs do not lead to what the plan does to {agent.name}"
        for name in sorted({*agent.tools_after} ^ {*new_agent.tools_after}):
            yield f"the specs do not lead to what {agent.name} gets of `{name}`"
        if not are_same_rules(agent.rules_after, new_agent.rules_after):
            yield f"the specs do not lead to the rules that {agent.name} gets"


def raise_if_changed(changes: Sequence[str]) -> None:
    """Stops because of what somebody else changed, a line each.

    Raises:
        PlanRefusedError: there is any.
    """
    if changes:
        lines = ["this has changed since the plan:", *changes, "plan again"]
        raise PlanRefusedError("\n".join(lines))


def _raise_if_blocked(plan: Plan) -> None:
    if plan.blockers:
        raise PlanRefusedError("\n".join(blocker.message for blocker in plan.blockers))


def build_apply_result(
    plan: Plan,
    *,
    changed: bool,
    baseline: str | None = None,
    missed: tuple[str, ...] = (),
) -> ApplyResult:
    """What was done, with the numbers of the plan's first agent."""
    first = plan.agents[0] if plan.agents else None
    tools = len(first.tools_after) if first else 0
    return ApplyResult(
        len(plan.offered) if plan.backend == "code" else tools,
        len(first.rules_after) if first else 0,
        changed,
        baseline,
        missed,
    )
