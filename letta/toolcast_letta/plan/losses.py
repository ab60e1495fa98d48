"""Losses: tools and rules of other owners that agents had after the newest baseline.

A request that replaces an agent's list of tools detaches the tools that it does not
list, and no response reports it. So a baseline carries the losses of its predecessor,
until a tool is attached again or its loss is accepted by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .current_state import AgentState, CurrentState
from .desired_state import DesiredAgent
from .plan import AgentPlan, Blocker
from .tool_rules import LOOP_RULES, Rule, format_rule


def find_losses(
    agent: DesiredAgent,
    state: AgentState,
    tools_after: Collection[str],
    rules_after: Sequence[Rule],
) -> dict[str, tuple[Rule, ...]]:
    """Return the tools and rules that an agent lost since its newest baseline.

    The keys are the names of tools that are not attached any more, with all their
    rules, and of attached tools that lack rules, with these rules. What the plan
    attaches again is not lost, and neither is a tool in `forbids`.
    """
    kinds = {_get_rule_kind(rule) for rule in (*state.rules, *rules_after)}
    losses = {}
    for name, rules in state.baseline_tools.items():
        # The specs forbid the tool, so its absence is intended.
        if name in agent.forbids:
            continue
        if name not in state.tools and name not in tools_after:
            losses[name] = rules
        elif lost := tuple(r for r in rules if _get_rule_kind(r) not in kinds):
            losses[name] = lost
    return losses


def _get_rule_kind(rule: Rule) -> tuple[str, str]:
    """Return a rule's tool and kind; a rule of the same kind replaces it.

    The rules that continue and end the turn are of one kind, because a tool needs only
    one.
    """
    kind = rule["type"]
    return rule["tool_name"], "loop" if kind in LOOP_RULES else kind


def list_losses(plan: AgentPlan, current: CurrentState) -> Iterator[str]:
    """Yield descriptions of an agent's losses, each with its solution."""
    time = current.agents[plan.name].baseline_time
    for name, rules in plan.lost.items():
        accept = f"or pass --accept-loss {name} to apply"
        if name in plan.tools_after:
            texts = ", ".join(f"`{format_rule(rule)}`" for rule in rules)
            yield (
                f"{plan.name} lost {texts} since the baseline of {time}; restore it with"
                f" `toolcast letta rollback --restore {name}`, {accept}"
            )
        elif name in current.registry:
            yield (
                f"`{name}` was detached from {plan.name} since the baseline of {time};"
                " list it in `expects` to attach it, or in `forbids` if the agent does not"
                f" need it, {accept}"
            )
        else:
            yield (
                f"`{name}` of {plan.name} was deleted from the registry since the baseline"
                f" of {time}; register it again and list it in `expects`, {accept}"
            )


def check_accepted_losses(
    names: Sequence[str], agents: Sequence[AgentPlan]
) -> Iterator[Blocker]:
    """Yield a blocker for each name in `--accept-loss` that no agent has lost."""
    accepted = {name for agent in agents for name in agent.accepted_losses}
    lost = sorted({name for agent in agents for name in agent.lost})
    for name in names:
        if name not in accepted:
            yield Blocker(
                "not-lost",
                f"--accept-loss {name}: no agent of the toolset lost `{name}`",
                f"pass one of {', '.join(lost)}" if lost else "remove the option",
            )
