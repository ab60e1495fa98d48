"""Rules that prevent an agent from calling a tool, evaluated as Letta does."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.fake_letta.tool_rules import parse_rule
from toolcast_letta.plan.callable_tools import list_disabling_rules

TOOLS = ("ask", "note", "send_message", "their_tool")


def make_rule(name: str, kind: str, **fields: Any) -> Any:
    return parse_rule({"tool_name": name, "type": kind, **fields})


def after(name: str, *children: str) -> Any:
    return make_rule(name, "constrain_child_tools", children=list(children))


def before(name: str, *children: str) -> Any:
    return make_rule(name, "parent_last_tool", children=list(children))


def by_result(name: str, default: str | None, *children: str, **fields: Any) -> Any:
    mapping = dict(enumerate(children))
    return make_rule(
        name,
        "conditional",
        child_output_mapping=mapping,
        default_child=default,
        **fields,
    )


def limit(name: str, number: int) -> Any:
    return make_rule(name, "max_count_per_step", max_count_limit=number)


ENDS = make_rule("send_message", "exit_loop")


@pytest.mark.parametrize(
    ("rules", "disabled"),
    [
        ([], []),
        ([limit("note", 1)], []),
        ([limit("note", 0)], ["note"]),
        ([limit("note", -3), limit("ask", 0)], ["ask", "note"]),
        ([before("their_tool", "note")], []),
        ([before("gone", "note", "ask")], ["ask", "note"]),
        (
            [before("their_tool", "note"), limit("their_tool", 0)],
            ["note", "their_tool"],
        ),
        ([before("send_message", "note"), ENDS], ["note"]),
        ([before("note", "note")], ["note"]),
        # Letta offers every tool where the rules exclude all of them.
        ([before("ask", "note"), before("their_tool", "note")], []),
        ([make_rule("their_tool", "run_first")], []),
        ([make_rule("gone", "run_first")], [*TOOLS]),
        ([make_rule("send_message", "run_first"), ENDS], ["ask", "note", "their_tool"]),
        (
            [
                make_rule("their_tool", "run_first"),
                after("their_tool", "send_message"),
                ENDS,
            ],
            ["ask", "note"],
        ),
        (
            [
                make_rule("ask", "run_first"),
                after("ask", "note"),
                after("note", "ask", "send_message"),
                ENDS,
            ],
            ["their_tool"],
        ),
        ([after("note", "gone")], []),
        ([make_rule("ask", "run_first"), after("ask", "gone")], []),
        ([make_rule("ask", "run_first"), by_result("ask", None, "note")], []),
        (
            [
                make_rule("ask", "run_first"),
                by_result("ask", "send_message", "note"),
                ENDS,
            ],
            [],
        ),
        (
            [
                make_rule("ask", "run_first"),
                by_result("ask", None, "send_message", require_output_mapping=True),
                ENDS,
            ],
            ["note", "their_tool"],
        ),
        (
            [
                make_rule("note", "requires_approval"),
                make_rule("note", "continue_loop"),
            ],
            [],
        ),
        ([make_rule("note", "required_before_exit"), ENDS], []),
    ],
)
def test_list_disabling_rules_returns_the_tools_that_letta_tool_rules_disable(
    rules: list[Any], disabled: list[str]
) -> None:
    found = dict(list_disabling_rules(TOOLS, rules))
    assert sorted(found) == disabled


def test_list_disabling_rules_names_a_letta_rule_only_if_it_is_the_sole_cause() -> None:
    """Return no rule name if several rules disable the tool."""
    rules = [limit("note", 0), before("their_tool", "ask")]
    assert dict(list_disabling_rules(TOOLS, rules)) == {
        "note": ("note max_count_per_step (max_count_limit=0)",)
    }
    rules = [limit("note", 0), before("gone", "note")]
    assert dict(list_disabling_rules(TOOLS, rules)) == {"note": ()}
