"""Apply a plan, unless Letta or the specs have changed in the meantime."""

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
    """Apply a plan, unless it is blocked or something has changed since it was made.

    Between reading an agent and the request that updates it, a change by another client
    is not detected: Letta has no conditional requests.

    Args:
        plan: a plan for the backend's location and the desired state.
        backend: the Letta to change.
        desired: the desired state that the plan was made for.
        report: receives a line for each step.

    Raises:
        PlanRefusedError: the plan has blockers, the backend must not be changed,
            something has changed since the plan was made, or a step did not have its
            effect.
        ConcurrentRunError: another apply or rollback is running.
        BackendError: see `Backend.execute`.
    """
    _raise_if_blocked(plan)
    if backend.refusal:
        raise PlanRefusedError(backend.refusal)
    with backend.lock():
        current = backend.read(desired)
        changes = list_changes_since(plan, backend.location, desired, current)
        raise_if_changed(changes)
        # Execute a plan from the current state: the saved plan only records what the
        # user reviewed, and part of it can be applied already.
        new_plan = build_plan(backend.location, desired, current, plan.overrides)
        # New blockers are possible: for example, another agent got a tool which the
        # plan deletes.
        _raise_if_blocked(new_plan)
        raise_if_changed(list(_compare_outcomes(plan, new_plan)))
        # An earlier run can have applied everything and stopped before it marked its
        # baseline as complete.
        if not new_plan.changes:
            backend.record_unchanged(new_plan, desired)
            return build_apply_result(new_plan, changed=False)
        return backend.execute(new_plan, desired, current, report)


def _compare_outcomes(plan: Plan, new_plan: Plan) -> Iterator[str]:
    """Yield descriptions of how the resulting states of two plans differ."""
    for name, (_, after) in new_plan.registry.items():
        if name in plan.registry and plan.registry[name][1] != after:
            yield f"the plan's result for `{name}` differs from what the specs require"
    agents = {agent.name: agent for agent in new_plan.agents}
    if set(agents) != {agent.name for agent in plan.agents}:
        yield "the plan and the specs have different agents"
        return
    for agent in plan.agents:
        new_agent = agents[agent.name]
        is_same_agent = (agent.id, agent.home) == (new_agent.id, new_agent.home)
        if not is_same_agent or agent.servers_after != new_agent.servers_after:
            yield f"the plan's result for {agent.name} differs from what the specs require"
        for name in sorted({*agent.tools_after} ^ {*new_agent.tools_after}):
            yield (
                f"the plan's result for `{name}` of {agent.name} differs from what the"
                " specs require"
            )
        if not are_same_rules(agent.rules_after, new_agent.rules_after):
            yield (
                f"the plan's result for the rules of {agent.name} differs from what the"
                " specs require"
            )


def raise_if_changed(changes: Sequence[str]) -> None:
    """Raise an error that lists the changes since the plan was made, if any.

    Raises:
        PlanRefusedError: `changes` is not empty.
    """
    if changes:
        lines = ["changes since the plan was made:", *changes, "make a new plan"]
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
    """Return the result of applying a plan, with the counts of its first agent.

    For Letta Code, whose agents get every offered tool, the number of offered tools is
    used.
    """
    first = plan.agents[0] if plan.agents else None
    tools = len(first.tools_after) if first else 0
    return ApplyResult(
        len(plan.offered) if plan.backend == "code" else tools,
        len(first.rules_after) if first else 0,
        changed,
        baseline,
        missed,
        plan.missing,
    )
