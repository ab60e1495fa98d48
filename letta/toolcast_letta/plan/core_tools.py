"""Find out whether agents lack built-in tools of Letta that they need.

Without its memory tools an agent cannot store anything, and no response reports it. The
tools that each type needs are those of agents that Letta 0.16.6 creates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..settings import BUILT_INS
from .callable_tools import list_disabling_rules
from .current_state import CurrentState
from .desired_state import DesiredAgent
from .losses import list_losses
from .plan import AgentPlan
from .tool_rules import (
    ANSWER_TOOL,
    CONTINUE_LOOP,
    EXIT_LOOP,
    TYPES_WITH_LOOP_RULES,
    Rule,
    format_names,
)

_MEMORY_ADDING_TOOLS = ("memory_insert", "core_memory_append", "memory")
_MEMORY_CHANGING_TOOLS = (
    "memory_replace",
    "core_memory_replace",
    "memory",
    "memory_rethink",
    "memory_apply_patch",
)
# For each type of Letta agent: what an agent must be able to do, with the built-in tools
# that do it. An agent needs one tool of each. Only `memgpt` agents need a tool to send
# their answer; agents of other types answer with a message.
_CORE_TOOLS: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    kind: (
        ("to search earlier messages", ("conversation_search",)),
        ("to add to its core memory", _MEMORY_ADDING_TOOLS),
        ("to change its core memory", _MEMORY_CHANGING_TOOLS),
        *((("to answer", ("send_message",)),) if "memgpt" in kind else ()),
    )
    for kind in ("letta_v1_agent", "memgpt_v2_agent", "memgpt_agent")
}


def list_missing_tools(
    agent: DesiredAgent, plan: AgentPlan, current: CurrentState
) -> Iterator[str]:
    """Yield descriptions of what an agent needs and does not have after a plan.

    These are missing built-in tools, rules that end or continue a turn wrongly,
    built-in tools that another owner replaced, tools that rules disable, and losses. A
    tool in the agent's `forbids`, or whose loss was accepted, is not reported as
    missing.
    """
    # The user decided that the agent does without these tools.
    unneeded = {*agent.forbids, *plan.accepted_losses}
    core = _list_core_tools(plan.type)
    for purpose, names in _CORE_TOOLS.get(plan.type, ()):
        if not {*names} & {*plan.tools_after, *unneeded}:
            alternatives = " or ".join(f"`{name}`" for name in names)
            yield (
                f"{agent.name} has no {alternatives}, which a {plan.type} needs {purpose};"
                " list a tool in `expects` to attach it, or in `forbids` if the agent does"
                " not need it"
            )
    for rule in list_conflicting_rules(agent, plan):
        name = rule["tool_name"]
        behavior = "ends its turn after"
        help_ = (
            "list the tool in `expects` to remove the rule, and also in `ends_turn` to"
            " keep it"
        )
        if name == ANSWER_TOOL:
            behavior = "continues its turn after"
            help_ = "list the tool in `expects` and `ends_turn` to remove the rule"
        yield (
            f"{agent.name} {behavior} `{name}`, by a rule {rule['type']} that a {plan.type}"
            f" does not need; {help_}"
        )
    for name in plan.tools_after:
        registered = current.registry.get(name)
        if name in BUILT_INS and registered is not None and not registered.is_built_in:
            yield (
                f"`{name}` of {agent.name} is not Letta's built-in tool:"
                f" {current.format_owner(registered)} replaced it; delete that tool, and"
                " Letta creates the built-in tool again"
            )
    names_by_rules: dict[tuple[str, ...], list[str]] = {}
    for name, rules in list_disabling_rules(plan.tools_after, plan.rules_after):
        if name in core or name in agent.expects or current.is_own_tool(name):
            names_by_rules.setdefault(rules, []).append(name)
    for rules, disabled in names_by_rules.items():
        cause = f"the rule {format_names(rules)}" if rules else "several of its rules"
        yield (
            f"{agent.name} can never call {format_names(disabled)}, because of {cause};"
            " remove the rule in Letta"
        )
    yield from list_losses(plan, current)


def _list_core_tools(agent_type: str) -> set[str]:
    """Return the names of all built-in tools that an agent type can need."""
    return {name for _, names in _CORE_TOOLS.get(agent_type, ()) for name in names}


def list_conflicting_rules(agent: DesiredAgent, plan: AgentPlan) -> list[Rule]:
    """Return rules that make an agent end or continue its turn at the wrong core tool.

    A conflict is an `exit_loop` of a core tool other than `send_message`, and, for a
    `memgpt` agent, a `continue_loop` of `send_message`. Tools in `expects` are skipped:
    for them the spec decides.
    """
    core = _list_core_tools(plan.type)
    conflicts = {(name, EXIT_LOOP) for name in core - {ANSWER_TOOL}}
    if plan.type in TYPES_WITH_LOOP_RULES:
        conflicts.add((ANSWER_TOOL, CONTINUE_LOOP))
    return [
        rule
        for rule in plan.rules_after
        if (rule["tool_name"], rule["type"]) in conflicts
        and rule["tool_name"] in plan.tools_after
        and rule["tool_name"] not in agent.expects
    ]
