"""Required rules of an agent's tools and their merge with existing rules."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_letta.plan.tool_rules import (
    RuleNeeds,
    are_same_rules,
    collect_tool_names,
    format_rule,
    is_stale,
    list_unneeded_rules,
    merge_rules,
)


def rule(name: str, kind: str = "continue_loop", **more: Any) -> dict[str, Any]:
    return {"tool_name": name, "type": kind, **more}


def needs(agent_type: str = "letta_v1_agent", **more: Any) -> RuleNeeds:
    return RuleNeeds(agent_type, **{"own": {}, **more})


@pytest.mark.parametrize(
    ("wanted", "kinds"),
    [
        (needs(own={"a": True}), {"a": "exit_loop"}),
        (needs(own={"a": False}), {}),
        (needs(expected={"a": True}), {"a": "exit_loop"}),
        (needs(built_in=["send_message"]), {}),
        (needs("memgpt_agent", own={"a": False}), {"a": "continue_loop"}),
        (needs("memgpt_v2_agent", own={"a": False}), {"a": "continue_loop"}),
        (needs("memgpt_agent", own={"a": True}), {"a": "exit_loop"}),
        (needs("memgpt_agent", expected={"b": False}), {"b": "continue_loop"}),
        (
            needs("memgpt_agent", built_in=["send_message", "archive"]),
            {"archive": "continue_loop", "send_message": "exit_loop"},
        ),
        (
            needs(
                "memgpt_agent", built_in=["send_message"], own={"send_message": False}
            ),
            {"send_message": "continue_loop"},
        ),
        (needs(expected={"a": False}, own={"a": True}), {"a": "exit_loop"}),
        (
            needs(approving=["c", "b"]),
            {"b": "requires_approval", "c": "requires_approval"},
        ),
    ],
)
def test_merge_rules_adds_required_letta_tool_rules(
    wanted: RuleNeeds, kinds: dict[str, str]
) -> None:
    assert merge_rules([], wanted) == [rule(name, kind) for name, kind in kinds.items()]


@pytest.mark.parametrize(
    ("before", "wanted", "after"),
    [
        # A required rule is not added twice.
        ([rule("a", "exit_loop")], needs(own={"a": True}), None),
        ([rule("a"), rule("a")], needs(), [rule("a")]),
        # Rules that contradict a spec are removed.
        ([rule("a")], needs(own={"a": True}), [rule("a", "exit_loop")]),
        ([rule("a", "exit_loop")], needs(own={"a": False}), []),
        ([rule("a", "exit_loop")], needs(expected={"a": False}), []),
        ([rule("a", "run_first")], needs(own={"a": False}), None),
        (
            [rule("send_message", "exit_loop")],
            needs(expected={"send_message": False}),
            None,
        ),
        (
            [rule("send_message")],
            needs(expected={"send_message": True}),
            [rule("send_message", "exit_loop")],
        ),
        # Exit rules of expected and built-in tools.
        (
            [rule("b", "exit_loop")],
            needs("memgpt_agent", expected={"b": False}),
            [rule("b")],
        ),
        ([rule("x", "exit_loop")], needs("memgpt_agent", built_in=["x"]), None),
        (
            [rule("x", "run_first")],
            needs("memgpt_agent", built_in=["x"]),
            [rule("x", "run_first"), rule("x")],
        ),
        # Removed and renamed tools.
        ([rule("a"), rule("b")], needs(removed=["a"]), [rule("b")]),
        ([rule("a"), rule("b")], needs(drop_stale=["b"]), [rule("a")]),
        ([rule("a")], needs(renamed={"a": "b"}), [rule("b")]),
        ([rule("a")], needs(renamed={"a": "b"}, removed=["b"]), []),
        (
            [rule("a", "constrain_child_tools", children=["b", "c"])],
            needs(renamed={"b": "d"}, removed=["c"]),
            [rule("a", "constrain_child_tools", children=["d"])],
        ),
        (
            [rule("a", "constrain_child_tools", children=["c"])],
            needs(removed=["c"]),
            [],
        ),
        ([rule("a", "constrain_child_tools", children=[])], needs(removed=["c"]), None),
        (
            [
                rule(
                    "a", "x", child_arg_nodes=[{"name": "b", "args": {}}, {"name": "c"}]
                )
            ],
            needs(renamed={"b": "d"}, removed=["c"]),
            [rule("a", "x", child_arg_nodes=[{"name": "d", "args": {}}])],
        ),
        (
            [
                rule(
                    "a",
                    "conditional",
                    child_output_mapping={"yes": "b", "no": "c"},
                    default_child="b",
                )
            ],
            needs(renamed={"b": "d"}, removed=["c"]),
            [
                rule(
                    "a",
                    "conditional",
                    child_output_mapping={"yes": "d"},
                    default_child="d",
                )
            ],
        ),
        (
            [
                rule(
                    "a",
                    "conditional",
                    child_output_mapping={"yes": "b"},
                    default_child="c",
                )
            ],
            needs(removed=["c"]),
            [
                rule(
                    "a",
                    "conditional",
                    child_output_mapping={"yes": "b"},
                    default_child=None,
                )
            ],
        ),
        (
            [rule("a", "conditional", child_output_mapping={"yes": "c"})],
            needs(removed=["c"]),
            [],
        ),
    ],
)
def test_merge_rules_keeps_valid_letta_tool_rules_and_updates_tool_names(
    before: list[Any], wanted: RuleNeeds, after: list[Any] | None
) -> None:
    assert merge_rules(before, wanted) == (before if after is None else after)


@pytest.mark.parametrize(
    ("tool_rule", "expected"),
    [
        (rule("x"), False),
        (rule("x", "exit_loop"), False),
        (rule("x", "requires_approval"), False),
        (rule("x", "max_count_per_step"), False),
        (rule("x", "run_first"), True),
        (rule("a", "run_first"), False),
        (rule("a", "constrain_child_tools", children=["b"]), False),
        (rule("a", "constrain_child_tools", children=["b", "x"]), True),
        (rule("a", "conditional", child_output_mapping={"y": "x"}), True),
        (rule("a", "conditional", default_child="x"), True),
        (rule("a", "conditional", default_child=None, children=None), False),
    ],
)
def test_letta_tool_rule_is_stale_if_it_restricts_calls_to_a_missing_tool(
    tool_rule: Any, expected: bool
) -> None:
    assert is_stale(tool_rule, ["a", "b"]) is expected


def test_list_unneeded_rules_returns_letta_tool_rules_that_no_setting_requires() -> (
    None
):
    wanted = needs(own={"a": True}, expected={"b": False}, built_in=["send_message"])
    asked = [rule("a", "exit_loop"), rule("send_message", "exit_loop"), rule("x")]
    added = [rule("a"), rule("b"), rule("x", "y", children=["a"]), rule("send_message")]
    assert list_unneeded_rules([*asked, *added], wanted) == added
    assert collect_tool_names(rule("a", children=["b"], default_child="c")) == {
        "a",
        "b",
        "c",
    }


def test_letta_tool_rules_are_formatted_and_compared_without_default_fields() -> None:
    tool_rule = rule("a", prompt_template="p", z=1, b="x", off=False, none=None)
    assert format_rule(tool_rule) == "a continue_loop (b='x', z=1)"
    assert format_rule(rule("a")) == "a continue_loop"
    assert are_same_rules([tool_rule, rule("b")], [rule("b"), rule("a", z=1, b="x")])
    assert not are_same_rules([rule("a")], [rule("a"), rule("a")])
    assert not are_same_rules([rule("a", z=1)], [rule("a")])
