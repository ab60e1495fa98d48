"""Blockers, warnings and missing parts of plans for a desired and a current state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from letta.tests.planning.states import (
    ADD,
    CORE,
    index_by_name,
    make_agent,
    make_agents,
    make_applied,
    make_built_in,
    make_current,
    make_desired,
    make_entry,
    make_plan,
    make_registered,
    make_rule,
    make_tool,
    offer_tools,
)
from toolcast_letta.plan.current_state import CurrentState, OfferedTool
from toolcast_letta.plan.desired_state import DesiredState
from toolcast_letta.plan.plan import Plan
from toolcast_letta.plan.plan_warnings import _is_private

MEMGPT = make_desired(make_tool("add"), agents=(make_agent(type="memgpt_agent"),))
SPARE = make_desired(make_tool("add"), make_tool("spare", attached=False))


def list_messages(plan: Plan) -> list[str]:
    return [
        *(f"{blocker.code}: {blocker.message}" for blocker in plan.blockers),
        *(f"warning: {line}" for line in plan.warnings),
        *(f"missing: {line}" for line in plan.missing),
    ]


@pytest.mark.parametrize(
    ("version", "is_known"),
    [
        ("0.13.0", True),
        ("0.12.99", False),
        ("0.16.99", True),
        ("0.17.0", False),
        ("0.16.7rc1", True),
        ("0.16", False),
        ("v0.16.6", False),
        ("", False),
    ],
)
def test_letta_plan_is_blocked_for_letta_versions_other_than_0_13_to_0_16(
    version: str, is_known: bool
) -> None:
    codes = [
        blocker.code
        for blocker in make_plan(ADD, make_applied(version=version)).blockers
    ]
    assert codes == ([] if is_known else ["version"])


@pytest.mark.parametrize(
    ("url", "is_private"),
    [
        ("https://localhost/", True),
        ("https://a.local/", True),
        ("https://a.svc/", True),
        ("https://a.internal/", True),
        ("https://10.0.0.1/", True),
        ("https://[::1]/", True),
        ("https://8.8.8.8/", False),
        ("https://a.test/", False),
        ("", False),
    ],
)
def test_private_mcp_server_url_causes_a_plan_warning_from_letta_0_16_7(
    url: str, is_private: bool
) -> None:
    assert _is_private(url) is is_private
    wanted = replace(ADD, server_url=url)
    for version, refuses in [("0.16.6", False), ("0.16.7", True), ("0.16.8", True)]:
        warnings = make_plan(wanted, make_applied(version=version)).warnings
        assert any("private addresses" in line for line in warnings) is (
            refuses and is_private
        )


@pytest.mark.parametrize(
    ("wanted", "found", "lines"),
    [
        (ADD, make_applied(), []),
        (
            ADD,
            make_applied(entry=make_entry(is_http=False)),
            ["server-kind: the entry `toys`"],
        ),
        (
            ADD,
            make_applied(unreachable="it is away", offered={}),
            ["unreachable: Letta cannot list the MCP server's tools: it is away"],
        ),
        (
            ADD,
            make_applied(offered={}),
            [
                (
                    "empty-list: the MCP server offers no tools, as it can during a "
                    "deployment: a refresh"
                )
            ],
        ),
        (
            make_desired(make_tool("add"), withheld={"add": "no.", "z": "not."}),
            make_applied(),
            [
                "wrong-endpoint: https://mcp.test/mcp is not the endpoint for Letta: "
                "it offers tools that the specs withhold from Letta (`add`: no.)"
            ],
        ),
        (
            ADD,
            make_applied(offered={"add": OfferedTool("add", "another")}),
            [
                (
                    "not-deployed: the MCP server's description or schema of `add` "
                    "differs from the spec"
                )
            ],
        ),
        (
            make_desired(make_tool("add"), make_tool("new"), make_tool("newer")),
            make_applied(),
            ["not-deployed: the MCP server does not offer `new`, `newer` on its first"],
        ),
        (
            ADD,
            make_applied(offered=offer_tools(make_tool("add"), add="no type")),
            ["skipped-schema: Letta would skip `add` without an error: no type"],
        ),
        (
            SPARE,
            make_applied(
                offered=offer_tools(
                    make_tool("add"), make_tool("spare"), spare="no type"
                )
            ),
            [
                "warning: Letta does not register tools whose schemas it does not accept: `spare`"
            ],
        ),
        (
            ADD,
            make_applied(
                offered=offer_tools(
                    make_tool("add"), make_tool("more"), make_tool("most")
                )
            ),
            [
                "warning: the MCP server also offers `more`, `most`, which no spec declares"
            ],
        ),
        (
            make_desired(make_tool("x" * 48)),
            make_current(make_desired(make_tool("x" * 48))),
            [],
        ),
        (
            make_desired(make_tool("x" * 49)),
            make_current(make_desired(make_tool("x" * 49))),
            [
                f"name-too-long: `{'x' * 49}` has 49 characters; Letta accepts at most 48"
            ],
        ),
        (
            make_desired(make_tool("memory")),
            make_current(make_desired(make_tool("memory"))),
            ["capture: `memory` is a built-in tool of Letta"],
        ),
        (
            make_desired(make_tool("add"), agents=(make_agent(expects=("far",)),)),
            make_applied(),
            [
                (
                    "expected-missing: `expects` of me lists `far`, which is not in the "
                    "registry"
                )
            ],
        ),
        (
            make_desired(
                make_tool("add"),
                agents=(make_agent(expects=("memory",), forbids={"memory": "No."}),),
            ),
            make_applied(),
            ["expected-missing: `memory` is in both `expects` and `forbids` of me"],
        ),
        (
            MEMGPT,
            make_applied(),
            [
                (
                    "agent-type: me is a letta_v1_agent, but the toolset declares "
                    "memgpt_agent, whose"
                )
            ],
        ),
        # Settings and rules that no spec declares.
        (
            ADD,
            make_applied(
                registry=index_by_name(
                    *(
                        make_built_in(n, settings={"return_char_limit": 6})
                        for n in CORE[:2]
                    ),
                    make_built_in(
                        "send_message", settings={"return_char_limit": 7, "x": 1}
                    ),
                    make_registered(
                        "add",
                        settings={
                            "return_char_limit": 6,
                            "default_requires_approval": True,
                            "enable_parallel_execution": False,
                        },
                    ),
                ),
                **make_agents(make_rule("add", "requires_approval")),
            ),
            [
                "warning: the registry has settings that no spec declares, and "
                "applying keeps them: `add` default_requires_approval True, "
                "`send_message` return_char_limit 7"
            ],
        ),
        (
            ADD,
            make_applied(**make_agents(tags=("origin:letta-code",))),
            ["warning: Letta Code opens me and removes all its rules"],
        ),
        (
            ADD,
            make_applied(
                **make_agents(
                    make_rule("x", "run_first"), make_rule("y", "continue_loop")
                )
            ),
            [
                "warning: the rule run_first of `x` of me refers to a tool that is not",
                "warning: me has rules of tools that are not attached, which have no "
                "effect: `y continue_loop`",
                "missing: me can never call `add`, `conversation_search`, `memory`, because",
            ],
        ),
        (
            ADD,
            make_applied(
                **make_agents(make_rule("add", "max_count_per_step", max_count_limit=3))
            ),
            [
                "warning: me has rules that neither the specs nor the type "
                "letta_v1_agent require, and applying keeps them: `add "
                "max_count_per_step (max_count_limit=3)`"
            ],
        ),
        (
            ADD,
            make_applied(
                **make_agents(
                    baseline_tools={"add": (), "lost": (), "memory_insert": ()},
                    baseline_time="then",
                )
            ),
            [
                "missing: `lost` of me was deleted from the registry since the baseline",
                "missing: `memory_insert` of me was deleted from the registry since",
            ],
        ),
        # Tools and rules that the agent's type requires.
        (
            ADD,
            make_applied(
                registry=index_by_name(
                    *map(make_built_in, (*CORE, "old")), make_registered("add")
                ),
                **make_agents(baseline_tools={"old": ()}, baseline_time="then"),
            ),
            ["missing: `old` was detached from me since the baseline of then"],
        ),
        (
            ADD,
            make_applied(**make_agents(names=("add",))),
            [
                "missing: me has no `conversation_search`, which a letta_v1_agent needs",
                "missing: me has no `memory_insert` or `core_memory_append` or `memory`,",
                "missing: me has no `memory_replace` or `core_memory_replace` or `memory` or",
            ],
        ),
        (
            make_desired(
                make_tool("add"),
                agents=(make_agent(forbids=dict.fromkeys(CORE, "No.")),),
            ),
            make_applied(**make_agents(names=("add",))),
            [],
        ),
        (
            MEMGPT,
            make_applied(**make_agents(names=(*CORE[:2], "add"), type="memgpt_agent")),
            ["missing: me has no `send_message`, which a memgpt_agent needs to answer"],
        ),
        (
            ADD,
            make_applied(**make_agents(make_rule("memory", "exit_loop"))),
            ["missing: me ends its turn after `memory`, by a rule exit_loop"],
        ),
        (
            MEMGPT,
            make_applied(
                **make_agents(
                    make_rule("send_message", "continue_loop"), type="memgpt_agent"
                )
            ),
            [
                (
                    "missing: me continues its turn after `send_message`, by a rule "
                    "continue_loop"
                )
            ],
        ),
        (
            MEMGPT,
            make_applied(
                registry=index_by_name(
                    *map(make_built_in, CORE),
                    make_registered("add"),
                    make_registered("theirs", server_id="mcp-2"),
                ),
                **make_agents(names=(*CORE, "add", "theirs"), type="memgpt_agent"),
            ),
            [
                (
                    "warning: me, a memgpt_agent, ends its turn after tools that have no "
                    "rule to continue: `theirs`"
                )
            ],
        ),
        (
            ADD,
            make_applied(
                registry=index_by_name(
                    *map(make_built_in, CORE[:2]),
                    make_registered("add"),
                    make_registered("send_message", server_id="mcp-7"),
                )
            ),
            [
                (
                    "missing: `send_message` of me is not Letta's built-in tool: the MCP "
                    "server entry mcp-7 replaced"
                )
            ],
        ),
    ],
)
def test_letta_plan_lists_blockers_warnings_and_missing_tools_for_the_current_state(
    wanted: DesiredState, found: CurrentState, lines: list[str]
) -> None:
    messages = list_messages(make_plan(wanted, found))
    assert len(messages) == len(lines), messages
    assert [
        message[: len(line)] for message, line in zip(messages, lines, strict=True)
    ] == lines
