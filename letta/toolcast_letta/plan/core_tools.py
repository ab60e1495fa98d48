"""Which of Letta's own tools an agent cannot do without, and which it has lost.

A request that replaces an agent's list of tools takes away whatever it does not name; the
agent then cannot write its memory any more, and no answer says so. What an agent's type needs
was read off the agents that Letta 0.16.6 creates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .current_state import CurrentState
from .desired_state import DesiredAgent
from .plan import AgentPlan

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
    for name in lost_tools(agent, plan, current):
        there = current.registry.get(name)
        if there is not None and there.is_built_in:
            when = current.agents[agent.name].had_at
            yield (
                f"{agent.name} has lost `{name}`, which the baseline of {when} left it;"
                " `expects` attaches a tool, `forbids` says that it is not wanted"
            )


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
