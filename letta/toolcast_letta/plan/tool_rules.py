"""Tool rules of agents: the rules that tools need, and existing rules that remain.

Measured on Letta 0.16.6 and 0.16.8: a `memgpt` agent ends its turn after a tool without
the rule `continue_loop`; a `letta_v1_agent` needs no rule. A rule of a tool that is no
longer attached does harm: with `run_first`, Letta then offers no tool to the model.
Attaching a tool by PATCH does not add the rule that requires approval.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .current_state import AgentState, CurrentState
from .desired_state import DesiredAgent, DesiredState

Rule = Mapping[str, Any]

CONTINUE_LOOP = "continue_loop"
EXIT_LOOP = "exit_loop"
REQUIRES_APPROVAL = "requires_approval"
ANSWER_TOOL = "send_message"
"""The tool by which a memgpt agent answers and ends its turn."""
TYPES_WITH_LOOP_RULES = frozenset(["memgpt_agent", "memgpt_v2_agent"])
"""Agent types that end their turn after a tool without a `continue_loop` rule."""
_HARMLESS_STALE_RULES = frozenset(
    [CONTINUE_LOOP, EXIT_LOOP, REQUIRES_APPROVAL, "max_count_per_step"]
)


@dataclass(frozen=True)
class RuleNeeds:
    """What determines the rules of an agent; tools are identified by name.

    Attributes:
        agent_type: the agent's type in Letta.
        own: the tools that the toolset attaches; True if a call ends the turn.
        expected: the tools of other owners that the agent must have; True if a call
            ends the turn.
        built_in: the attached built-in tools. If no rule exists for them,
            `send_message` ends the turn and the others continue it, as in Letta's own
            agents.
        approving: the tools whose calls a user must approve.
        removed: the tools that are detached.
        renamed: the new names of renamed tools.
        drop_stale: tools that are not attached and whose rules are removed.
    """

    agent_type: str
    own: Mapping[str, bool]
    expected: Mapping[str, bool] = field(default_factory=dict)
    built_in: Collection[str] = ()
    approving: Collection[str] = ()
    removed: Collection[str] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    drop_stale: Collection[str] = ()


def build_rule_needs(
    desired: DesiredState,
    agent: DesiredAgent,
    state: AgentState,
    current: CurrentState,
    tools: Collection[str],
) -> RuleNeeds:
    """Return what determines the rules of an agent that will have these tools.

    `removed`, `renamed` and `drop_stale` of the result are empty: the caller sets them.
    """
    # Attaching a tool by PATCH does not add its approval rule, so it is added here. A
    # tool of another owner that is attached already is left out: the client that
    # attached it has decided about approval.
    approving = [
        name
        for name in tools
        if (name in desired.tools and desired.tools[name].requires_approval)
        or (
            (name in desired.canonical or name not in state.tools)
            and name in current.registry
            and current.registry[name].needs_approval
        )
    ]
    registered = [name for name in tools if name in current.registry]
    return RuleNeeds(
        state.type,
        {name: desired.tools[name].ends_turn for name in desired.canonical},
        agent.expected,
        [name for name in registered if current.registry[name].is_built_in],
        approving,
    )


def merge_rules(before: Sequence[Rule], needs: RuleNeeds) -> list[dict[str, Any]]:
    """Return the rules of an agent after a change of its tools.

    Existing rules remain, without references to removed tools and with the new names of
    renamed ones. Rules that contradict a spec are removed, and rules that the tools
    need are added. A rule that requires approval is never removed from an attached
    tool: a user may have added it.
    """
    result: list[dict[str, Any]] = []
    for rule in before:
        name = needs.renamed.get(rule["tool_name"], rule["tool_name"])
        if name in needs.removed or name in needs.drop_stale:
            continue
        if _is_contradictory(name, rule["type"], needs):
            continue
        changed = _rename_tools(rule, name, needs)
        if changed is not None and changed not in result:
            result.append(changed)
    has = {(rule["tool_name"], rule["type"]) for rule in result}
    for name, kind in _list_needed_rules(
        needs, {name for name, kind in has if kind in LOOP_RULES}
    ):
        if (name, kind) not in has:
            result.append({"tool_name": name, "type": kind})
    return result


LOOP_RULES = frozenset([CONTINUE_LOOP, EXIT_LOOP])
"""The types of the rules that decide whether a tool ends the turn."""


def _list_needed_rules(
    needs: RuleNeeds, has_loop_rule: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield the tool name and type of each rule that an agent's tools need.

    Args:
        needs: the tools and the agent's type.
        has_loop_rule: tools with a rule that continues or ends the turn; such a rule of
            another owner's tool is sufficient.
    """
    # The spec decides whether an own tool ends the turn. For a tool of another owner,
    # an existing rule that continues or ends the turn is enough.
    for name, ends_turn in sorted({**needs.expected, **needs.own}.items()):
        if ends_turn:
            yield name, EXIT_LOOP
        elif needs.agent_type in TYPES_WITH_LOOP_RULES and (
            name in needs.own or name not in has_loop_rule
        ):
            yield name, CONTINUE_LOOP
    # Built-in tools get the rules that Letta itself gives them.
    decided = {*needs.own, *needs.expected, *has_loop_rule}
    if needs.agent_type in TYPES_WITH_LOOP_RULES:
        for name in sorted({*needs.built_in} - decided):
            yield name, EXIT_LOOP if name == ANSWER_TOOL else CONTINUE_LOOP
    for name in sorted(needs.approving):
        yield name, REQUIRES_APPROVAL


def _is_contradictory(name: str, kind: str, needs: RuleNeeds) -> bool:
    """Return whether a rule contradicts what the spec declares for its tool.

    That is a `continue_loop` of a tool that ends the turn, or an `exit_loop` of another
    one. Rules of undeclared tools, and `exit_loop` of `send_message`, never do.
    """
    ends_turn = {**needs.expected, **needs.own}.get(name)
    if ends_turn is None or (name == ANSWER_TOOL and not ends_turn):
        return False
    return kind == (CONTINUE_LOOP if ends_turn else EXIT_LOOP)


def _rename_tools(rule: Rule, name: str, needs: RuleNeeds) -> dict[str, Any] | None:
    """Return a copy of a rule with new tool names and without removed tools.

    Return None if the rule led to other tools and none of them remains.

    Args:
        rule: the rule.
        name: the new name of the rule's own tool.
        needs: the renamed and the removed tools.
    """
    changed = {**rule, "tool_name": name}
    if isinstance(rule.get("children"), list):
        children = [needs.renamed.get(child, child) for child in rule["children"]]
        changed["children"] = [
            child for child in children if child not in needs.removed
        ]
        if rule["children"] and not changed["children"]:
            return None
    nodes = rule.get("child_arg_nodes")
    if isinstance(nodes, list):
        renamed = [
            {**node, "name": needs.renamed.get(node["name"], node["name"])}
            for node in nodes
        ]
        changed["child_arg_nodes"] = [
            node for node in renamed if node["name"] not in needs.removed
        ]
    mapping = rule.get("child_output_mapping")
    if isinstance(mapping, Mapping):
        pairs = {key: needs.renamed.get(to, to) for key, to in mapping.items()}
        changed["child_output_mapping"] = {
            key: to for key, to in pairs.items() if to not in needs.removed
        }
        default = rule.get("default_child")
        default = needs.renamed.get(default, default) if default else default
        changed["default_child"] = None if default in needs.removed else default
        if pairs and not changed["child_output_mapping"]:
            return None
    return changed


def is_stale(rule: Rule, attached: Collection[str]) -> bool:
    """Return whether a rule refers to a tool that is not attached, and so does harm.

    A rule that only limits, approves, ends or continues is harmless: it never does.
    """
    if rule["type"] in _HARMLESS_STALE_RULES:
        return False
    return not collect_tool_names(rule) <= {*attached}


def collect_tool_names(rule: Rule) -> set[str]:
    """Return the names of the tools that a rule refers to, with its own tool.

    Args:
        rule: a rule; its children and its conditional targets are included.
    """
    names = {rule["tool_name"], *(rule.get("children") or ())}
    names |= {*(rule.get("child_output_mapping") or {}).values()}
    return names | {name for name in [rule.get("default_child")] if name}


def list_unneeded_rules(rules: Sequence[Rule], needs: RuleNeeds) -> list[Rule]:
    """Return the rules about known tools that neither specs nor agent type need.

    Known are the toolset's, the expected and the attached built-in tools. An
    `exit_loop` of `send_message` always counts as needed.
    """
    names = {*needs.own, *needs.expected, *needs.built_in}
    needed = {*_list_needed_rules(needs, ()), (ANSWER_TOOL, EXIT_LOOP)}
    return [
        rule
        for rule in rules
        if collect_tool_names(rule) & names
        and (rule["tool_name"], rule["type"]) not in needed
    ]


def format_rule(rule: Rule) -> str:
    """Return a rule as text: `TOOL TYPE`, and its other set fields in parentheses.

    `prompt_template` is omitted, and so are fields that are null or false.
    """
    shown_fields = ("tool_name", "type", "prompt_template")
    rest = ", ".join(
        f"{key}={value!r}"
        for key, value in sorted(rule.items())
        if key not in shown_fields and not _is_unset(value)
    )
    return f"{rule['tool_name']} {rule['type']}" + (f" ({rest})" if rest else "")


def _is_unset(value: Any) -> bool:
    # Compare by identity: a limit of 0 is set, although 0 equals False.
    return value is None or value is False


def are_same_rules(rules: Sequence[Rule], other_rules: Sequence[Rule]) -> bool:
    """Return whether two lists have equal rules, in any order.

    Unset fields and `prompt_template` are ignored.
    """
    return sorted(map(_encode_rule, rules)) == sorted(map(_encode_rule, other_rules))


def _encode_rule(rule: Rule) -> str:
    import json

    fields = {k: v for k, v in rule.items() if not _is_unset(v)}
    fields.pop("prompt_template", None)
    return json.dumps(fields, sort_keys=True)


def format_names(names: Sequence[str]) -> str:
    """Return the names as code, separated by commas."""
    return ", ".join(f"`{name}`" for name in names)
