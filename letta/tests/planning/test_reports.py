"""Plans and verification results as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from letta.tests.planning.states import ADD, make_applied, make_plan
from toolcast_letta.plan.backend import AgentCount, CheckResult
from toolcast_letta.plan.plan import AgentPlan, Blocker, Change, Plan
from toolcast_letta.plan.report import format_plan, format_verification
from toolcast_letta.plan.verification import Verification


def make_report_plan(
    *changes: Change, version: str = "", agents: Any = (), **more: Any
) -> Plan:
    server = {"name": "toys", "url": "http://a"}
    return Plan(
        "code",
        "toys",
        "s.json",
        version,
        server,
        "",
        None,
        {},
        {},
        agents,
        changes,
        **more,
    )


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (
            make_report_plan(),
            "toys in s.json\n\nNo changes: Letta matches the specs.\n",
        ),
        (
            make_report_plan(missing=("one",)),
            "toys in s.json\n"
            "\n"
            "missing: one\n"
            "\n"
            "Nothing to apply, but Letta does not match the specs.\n",
        ),
        (
            make_report_plan(Change("~", "registry", "a"), missing=("one",)),
            "toys in s.json\n"
            "\n"
            "  registry, for every agent of the organization\n"
            "    ~ a\n"
            "\n"
            "missing: one\n"
            "\n"
            "Plan: 0 to add, 1 to change, 0 to remove.\n",
        ),
        (
            make_report_plan(
                Change("-/+", "registry", "a -> b", undo="renamed"),
                Change("-", "registry", "c", detail="gone"),
                Change("+", "registry", "d", undo="it stays"),
                Change("+", "server", "toys", "me", "http://a"),
            ),
            "toys in s.json\n"
            "\n"
            "  registry, for every agent of the organization\n"
            "  -/+ a -> b  # cannot be undone: renamed\n"
            "    - c  (gone)\n"
            "    + d  # it stays\n"
            "\n"
            "  MCP servers of me\n"
            "    + toys  (http://a)\n"
            "\n"
            "Plan: 3 to add, 0 to change, 2 to remove.\n",
        ),
        (
            make_report_plan(
                Change("+", "rule", "a continue_loop", "me"),
                Change("+", "rule", "b continue_loop", "me"),
                Change("+", "rule", "c run_first (x=1)", "me"),
                Change("+", "rule", "d continue_loop", "you"),
                version="0.16.6",
                agents=(
                    AgentPlan("me", "agent-1", "memgpt_agent"),
                    AgentPlan("you", "agent-2"),
                    AgentPlan("they", "agent-3", home="local:/x"),
                ),
            ),
            "toys on Letta 0.16.6 at s.json\nme is agent-1, a memgpt_agent\n"
            "you is agent-2 on Letta's cloud\nthey is agent-3 on local:/x\n"
            "\n  rules of me\n    + a, b  continue_loop\n    + c run_first (x=1)\n"
            "\n  rules of you\n    + d  continue_loop\n"
            "\nPlan: 4 to add, 0 to change, 0 to remove.\n",
        ),
        (
            make_report_plan(
                blockers=(Blocker("a", "no", "do it"), Blocker("b", "nor this"))
            ),
            "toys in s.json\n\nrefused: no (a)\n  help: do it\n\nrefused: nor this (b)\n"
            "\nRefused: 2 blockers.\n",
        ),
    ],
)
def test_format_plan_prints_letta_changes_missing_tools_and_blockers(
    made: Plan, text: str
) -> None:
    assert format_plan(made) == text


@pytest.mark.parametrize(
    ("length", "lines"),
    [
        # A line has at most 88 characters.
        (40, ["    + " + "a" * 40 + ", " + "b" * 40, ""]),
        (41, ["    + " + "a" * 41 + ",", "      " + "b" * 41]),
        (90, ["    + " + "a" * 90 + ",", "      " + "b" * 90]),
    ],
)
def test_format_plan_wraps_letta_tool_names_at_88_characters(
    length: int, lines: list[str]
) -> None:
    names = ("a" * length, "b" * length)
    text = format_plan(
        make_report_plan(*(Change("+", "tool", name, "me") for name in names))
    )
    assert text.split("\n")[3:5] == lines


VERIFICATION_FIELDS = {
    "plan": replace(make_plan(ADD, make_applied()), blocks=("a block",)),
    "counts": (
        AgentCount("me", ("add", "x"), 1, ("add", "y")),
        AgentCount("you", (), 1),
        AgentCount("they", ("add",), 1, ("add",)),
    ),
    "checks": (
        CheckResult("me", "add", "run", True, "1 example"),
        CheckResult("me", "sub", "run", False),
        CheckResult("me", "mul", "run", None, "no", is_asked=True),
        CheckResult("me", "div", "run", None, "no"),
        CheckResult("me", "", "list", True),
    ),
    "canonical": ("add",),
}


def test_format_verification_prints_tool_checks_counts_and_differences() -> None:
    assert format_verification(Verification(**VERIFICATION_FIELDS)) == (
        "differs: a block\n"
        "run add by me: ok (1 example)\n"
        "run sub by me: FAILED\n"
        "run mul by me: skipped (no)\n"
        "run div by me: skipped (no)\n"
        "list by me: ok\n"
        "me has 1 of 1 canonical tools: add\n"
        "me has 1 other tools: x\n"
        "attached_count: 2 (baseline 2 + 1 - 1: lost y)  me\n"
        "you has 0 of 1 canonical tools: none\n"
        "you has 0 other tools: none\n"
        "attached_count: 0  you\n"
        "they has 1 of 1 canonical tools: add\n"
        "they has 0 other tools: none\n"
        "attached_count: 1 (baseline 1)  they\n"
        "skipped: run mul by me: no\n"
        "all_match: false\n"
    )


@pytest.mark.parametrize(
    ("more", "match", "success"),
    [
        ({"plan": make_report_plan()}, False, False),
        (
            {"plan": make_report_plan(), "checks": VERIFICATION_FIELDS["checks"][3:]},
            True,
            True,
        ),
        (
            {"plan": make_report_plan(), "checks": VERIFICATION_FIELDS["checks"][2:]},
            True,
            False,
        ),
        ({"checks": ()}, False, False),
        ({"checks": (), "plan": make_report_plan(Change("+", "a", "b"))}, False, False),
        ({"checks": (), "plan": make_report_plan(missing=("x",))}, False, False),
    ],
)
def test_letta_verification_matches_and_succeeds_only_without_differences_or_failures(
    more: Any, match: bool, success: bool
) -> None:
    """Require for success that no requested check was skipped."""
    found = Verification(**{**VERIFICATION_FIELDS, **more})
    assert (found.all_match, found.is_success) == (match, success)
    assert format_verification(found).endswith(f"all_match: {str(match).lower()}\n")


def test_letta_verification_differences_name_each_change_and_its_agent() -> None:
    """List blockers, changes, losses and differing memory blocks."""
    made = make_report_plan(
        Change("+", "tool", "a", "me", "attached"),
        Change("-", "registry", "b"),
        blockers=(Blocker("x", "no"),),
        missing=("lost",),
        blocks=("a block",),
    )
    found = Verification(**{**VERIFICATION_FIELDS, "plan": made})
    assert found.differences == (
        "no",
        "+ tool a of me (attached)",
        "- registry b",
        "lost",
        "a block",
    )
