"""Find tools that an agent has and that its rules prevent it from calling.

The rules are evaluated as `ToolRulesSolver` of Letta 0.16.6 does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from .tool_rules import EXIT_LOOP, Rule, collect_tool_names, format_rule


def list_disabling_rules(
    tools: Collection[str], rules: Sequence[Rule]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each tool that the agent can never call, with the rules that prevent it.

    The tools are sorted. A rule is a reason if the tool could be called without this
    rule; the rules, formatted as text, are empty if only several rules together are the
    reason.

    Args:
        tools: the names of the agent's tools.
        rules: the agent's rules.
    """
    for name in sorted(_find_disabled_tools(tools, rules)):
        reasons = []
        for rule in rules:
            others = [other for other in rules if other is not rule]
            if name not in _find_disabled_tools(tools, others):
                reasons.append(format_rule(rule))
        yield name, tuple(reasons)


def _find_disabled_tools(tools: Collection[str], rules: Sequence[Rule]) -> set[str]:
    """Return the tools that no sequence of calls within one turn can call."""
    kinds = {(rule["tool_name"], rule["type"]) for rule in rules}
    reached: set[str] = set()
    pending = [_list_allowed_tools(None, tools, rules)]
    while pending:
        for name in pending.pop() - reached:
            reached.add(name)
            # After a tool with this rule the turn ends, so no tool can follow it.
            if (name, EXIT_LOOP) not in kinds:
                pending.append(_list_allowed_tools(name, tools, rules))
    return {*tools} - reached


def _list_allowed_tools(
    last: str | None, tools: Collection[str], rules: Sequence[Rule]
) -> set[str]:
    """Return the tools that Letta offers to the model for its next call.

    Args:
        last: the previous call's tool; None at the start of a turn.
        tools: the names of the agent's tools.
        rules: the agent's rules.
    """
    first = {rule["tool_name"] for rule in rules if rule["type"] == "run_first"}
    if last is None and first:
        return first.intersection(tools)
    allowed = {*tools}
    for rule in rules:
        name, kind = rule["tool_name"], rule["type"]
        children = collect_tool_names({**rule, "tool_name": None}) - {None}
        if kind == "max_count_per_step" and rule.get("max_count_limit", 1) <= 0:
            allowed.discard(name)
        elif kind == "parent_last_tool":
            allowed = allowed & children if name == last else allowed - children
        elif name == last and (
            kind == "constrain_child_tools"
            or (
                kind == "conditional"
                # Without a default and without this requirement, a result that the
                # mapping does not list allows every tool.
                and (rule.get("default_child") or rule.get("require_output_mapping"))
            )
        ):
            allowed &= children
    # Letta offers every tool rather than none if the rules exclude all of them.
    return allowed or {*tools}
