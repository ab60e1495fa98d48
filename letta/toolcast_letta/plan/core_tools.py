"""Which of Letta's own tools an agent cannot do without, and what has become of them.

A request that replaces an agent's list of tools takes away whatever it does not name; the
agent then cannot write its memory any more, and no answer says so. What an agent's type needs
was read off the agents that Letta 0.16.6 creates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..settings import BUILT_INS
from .current_state import CurrentState
from .desired_state import DesiredAgent
from .plan import AgentPlan
from .tool_rules import ANSWERS, CONTINUES, EXITS, NEEDS_LOOP_RULES, Rule

_ADDS = ("memory_insert", "core_memory_append", "memory")
_REPLACES = (
    "memory_replace",
    "core_memory_replace",
    "memory",
    "memory_rethink",
    "memory_apply_patch",
)
_NEEDS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    kind: (
        ("to find what was said before", ("conversation_search",)),
        ("to add to its core memory", _ADDS),
        ("to change its core memory", _REPLACES),
        *((("to answer at all", ("send_message",)),) if "memgpt" in kind else ()),
    )
    for kind in ("letta_v1_agent", "memgpt_v2_agent", "memgpt_agent")
}


def missing_tools(
    agent: DesiredAgent, plan: AgentPlan, current: CurrentState
) -> Iterator[str]:
    """What an agent should have and will not have behind a plan, a line each.

    That an agent of the toolset does without a tool is said by its `forbids`.
    """
    for purpose, names in _NEEDS.get(plan.type, ()):
        if not {*names} & {*plan.tools_after, *agent.forbids}:
            shown = " or ".join(f"`{name}`" for name in names)
            yield (
                f"{agent.name} has no {shown}, which a {plan.type} needs {purpose};"
                " `expects` attaches a tool, `forbids` says that it is not wanted"
            )
    for rule in contrary_rules(agent, plan):
        name = rule["tool_name"]
        does = "ends its turn at"
        help_ = "`expects` takes it away, `ends_turn` beside it says that it is meant"
        if name == ANSWERS:
            does = "goes on after"
            help_ = "`expects` and `ends_turn` beside it take it away"
        yield (
            f"{agent.name} {does} `{name}`, by a rule {rule['type']} that a {plan.type}"
            f" does not need; {help_}"
        )
    for name in plan.tools_after:
        taken = current.registry.get(name)
        if name in BUILT_INS and taken is not None and not taken.is_built_in:
            yield (
                f"`{name}` of {agent.name} is not Letta's own: {current.owner_of(taken)}"
                " has taken it over; delete it there, and Letta makes its own anew"
            )
    for name in lost_tools(agent, plan, current):
        there = current.registry.get(name)
        if there is not None and there.is_built_in:
            when = current.agents[agent.name].had_at
            yield (
                f"{agent.name} has lost `{name}`, which the baseline of {when} left it;"
                " `expects` attaches a tool, `forbids` says that it is not wanted"
            )


def contrary_rules(agent: DesiredAgent, plan: AgentPlan) -> list[Rule]:
    """Rules by which a tool that the agent cannot do without ends the turn, or does not.

    What `expects` names is as the specs say.
    """
    core = {name for _, names in _NEEDS.get(plan.type, ()) for name in names}
    wrong = {(name, EXITS) for name in core - {ANSWERS}}
    if plan.type in NEEDS_LOOP_RULES:
        wrong.add((ANSWERS, CONTINUES))
    return [
        rule
        for rule in plan.rules_after
        if (rule["tool_name"], rule["type"]) in wrong
        and rule["tool_name"] in plan.tools_after
        and rule["tool_name"] not in agent.expects
    ]


def lost_tools(
    agent: DesiredAgent, plan: AgentPlan, current: CurrentState
) -> list[str]:
    """Tools of others that the newest baseline left an agent and that it does not get."""
    had = current.agents[agent.name].had
    return [
        name
        for name in had
        if name not in plan.tools_after and name not in agent.forbids
    ]
