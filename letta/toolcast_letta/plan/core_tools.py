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
from .tool_rules import (
    ANSWER_TOOL,
    CONTINUE_LOOP,
    EXIT_LOOP,
    TYPES_WITH_LOOP_RULES,
    Rule,
)

_MEMORY_ADDING_TOOLS = ("memory_insert", "core_memory_append", "memory")
_MEMORY_CHANGING_TOOLS = (
    "memory_replace",
    "core_memory_replace",
    "memory",
    "memory_rethink",
    "memory_apply_patch",
)
_CORE_TOOLS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    kind: (
        ("to find what was said before", ("conversation_search",)),
        ("to add to its core memory", _MEMORY_ADDING_TOOLS),
        ("to change its core memory", _MEMORY_CHANGING_TOOLS),
        *((("to answer at all", ("send_message",)),) if "memgpt" in kind else ()),
    )
    for kind in ("letta_v1_agent", "memgpt_v2_agent", "memgpt_agent")
}


def list_missing_tools(
    agent: DesiredAgent, plan: AgentPlan, current: CurrentState
) -> Iterator[str]:
    """What an agent should have and will not have behind a plan, a line each.

    That an agent of the toolset does without a tool is said by its `forbids`.
    """
    for purpose, names in _CORE_TOOLS.get(plan.type, ()):
        if not {*names} & {*plan.tools_after, *agent.forbids}:
            shown = " or ".join(f"`{name}`" for name in names)
            yield (
                f"{agent.name} has no {shown}, which a {plan.type} needs {purpose};"
                " `expects` attaches a tool, `forbids` says that it is not wanted"
            )
    for rule in list_conflicting_rules(agent, plan):
        name = rule["tool_name"]
        behavior = "ends its turn at"
        help_ = "`expects` takes it away, `ends_turn` beside it says that it is meant"
        if name == ANSWER_TOOL:
            behavior = "goes on after"
            help_ = "`expects` and `ends_turn` beside it take it away"
        yield (
            f"{agent.name} {behavior} `{name}`, by a rule {rule['type']} that a {plan.type}"
            f" does not need; {help_}"
        )
    for name in plan.tools_after:
        registered = current.registry.get(name)
        if name in BUILT_INS and registered is not None and not registered.is_built_in:
            yield (
                f"`{name}` of {agent.name} is not Letta's own: {current.format_owner(registered)}"
                " has taken it over; delete it there, and Letta makes its own anew"
            )
    for name in list_lost_tools(agent, plan, current):
        registered = current.registry.get(name)
        if registered is not None and registered.is_built_in:
            when = current.agents[agent.name].baseline_time
            yield (
                f"{agent.name} has lost `{name}`, which the baseline of {when} left it;"
                " `expects` attaches a tool, `forbids` says that it is not wanted"
            )


def list_conflicting_rules(agent: DesiredAgent, plan: AgentPlan) -> list[Rule]:
    """Rules by which a tool that the agent cannot do without ends the turn, or does not.

    What `expects` names is as the specs say.
    """
    core = {name for _, names in _CORE_TOOLS.get(plan.type, ()) for name in names}
    wrong = {(name, EXIT_LOOP) for name in core - {ANSWER_TOOL}}
    if plan.type in TYPES_WITH_LOOP_RULES:
        wrong.add((ANSWER_TOOL, CONTINUE_LOOP))
    return [
        rule
        for rule in plan.rules_after
        if (rule["tool_name"], rule["type"]) in wrong
        and rule["tool_name"] in plan.tools_after
        and rule["tool_name"] not in agent.expects
    ]


def list_lost_tools(
    agent: DesiredAgent, plan: AgentPlan, current: CurrentState
) -> list[str]:
    """Tools of others that the newest baseline left an agent and that it does not get."""
    had = current.agents[agent.name].baseline_tools
    return [
        name
        for name in had
        if name not in plan.tools_after and name not in agent.forbids
    ]
