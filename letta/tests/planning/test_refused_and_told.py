"""What is refused and told, by what is wanted and what is there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from letta.tests.planning.states import (
    ADD,
    CORE,
    agent,
    as_it_is,
    built_in,
    by_name,
    current,
    desired,
    entry,
    has,
    offered,
    planned,
    registered,
    rule,
    tool,
)
from toolcast_letta.plan.current_state import CurrentState, OfferedTool
from toolcast_letta.plan.desired_state import DesiredState
from toolcast_letta.plan.plan import Plan
from toolcast_letta.plan.plan_warnings import _is_private

MEMGPT = desired(tool("add"), agents=(agent(type="memgpt_agent"),))
SPARE = desired(tool("add"), tool("spare", attached=False))


def told(plan: Plan) -> list[str]:
    return [
        *(f"{one.code}: {one.message}" for one in plan.blockers),
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
def test_letta_0_13_to_0_16_is_known(version: str, is_known: bool) -> None:
    list_blocker_codes = [
        one.code for one in planned(ADD, as_it_is(version=version)).blockers
    ]
    assert list_blocker_codes == ([] if is_known else ["version"])


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
def test_an_address_of_a_network_of_ones_own(url: str, is_private: bool) -> None:
    assert _is_private(url) is is_private
    wanted = replace(ADD, server_url=url)
    for version, refuses in [("0.16.6", False), ("0.16.7", True), ("0.16.8", True)]:
        said = planned(wanted, as_it_is(version=version)).warnings
        assert any("private addresses" in line for line in said) is (
            refuses and is_private
        )


@pytest.mark.parametrize(
    ("wanted", "found", "lines"),
    [
        (ADD, as_it_is(), []),
        (ADD, as_it_is(entry=entry(is_http=False)), ["server-kind: the entry `toys`"]),
        (
            ADD,
            as_it_is(unreachable="it is away", offered={}),
            ["unreachable: Letta cannot list the MCP server's tools: it is away"],
        ),
        (
            ADD,
            as_it_is(offered={}),
            [
                (
                    "empty-list: the MCP server offers no tools, as it can during a "
                    "deployment: a refresh"
                )
            ],
        ),
        (
            desired(tool("add"), withheld={"add": "no.", "z": "not."}),
            as_it_is(),
            [
                "wrong-endpoint: https://mcp.test/mcp is not the endpoint for Letta: "
                "it offers tools that the specs withhold from Letta (`add`: no.)"
            ],
        ),
        (
            ADD,
            as_it_is(offered={"add": OfferedTool("add", "another")}),
            [
                (
                    "not-deployed: the MCP server's description or schema of `add` "
                    "differs from the spec"
                )
            ],
        ),
        (
            desired(tool("add"), tool("new"), tool("newer")),
            as_it_is(),
            [
                "not-deployed: the MCP server does not offer `new`, `newer` on its first",
            ],
        ),
        (
            ADD,
            as_it_is(offered=offered(tool("add"), add="no type")),
            ["skipped-schema: Letta would skip `add` without an error: no type"],
        ),
        (
            SPARE,
            as_it_is(offered=offered(tool("add"), tool("spare"), spare="no type")),
            [
                "warning: Letta does not register tools whose schemas it does not accept: `spare`"
            ],
        ),
        (
            ADD,
            as_it_is(offered=offered(tool("add"), tool("more"), tool("most"))),
            [
                "warning: the MCP server also offers `more`, `most`, which no spec declares"
            ],
        ),
        (desired(tool("x" * 48)), current(desired(tool("x" * 48))), []),
        (
            desired(tool("x" * 49)),
            current(desired(tool("x" * 49))),
            [
                f"name-too-long: `{'x' * 49}` has 49 characters; Letta accepts at most 48"
            ],
        ),
        (
            desired(tool("memory")),
            current(desired(tool("memory"))),
            ["capture: `memory` is a built-in tool of Letta"],
        ),
        (
            desired(tool("add"), agents=(agent(expects=("far",)),)),
            as_it_is(),
            [
                (
                    "expected-missing: `expects` of me lists `far`, which is not in the "
                    "registry"
                )
            ],
        ),
        (
            desired(
                tool("add"),
                agents=(agent(expects=("memory",), forbids={"memory": "No."}),),
            ),
            as_it_is(),
            ["expected-missing: `memory` is in both `expects` and `forbids` of me"],
        ),
        (
            MEMGPT,
            as_it_is(),
            [
                (
                    "agent-type: me is a letta_v1_agent, but the toolset declares "
                    "memgpt_agent, whose"
                )
            ],
        ),
        # What the registry and the agents hold that nobody asked for.
        (
            ADD,
            as_it_is(
                registry=by_name(
                    *(built_in(n, settings={"return_char_limit": 6}) for n in CORE[:2]),
                    built_in("send_message", settings={"return_char_limit": 7, "x": 1}),
                    registered(
                        "add",
                        settings={
                            "return_char_limit": 6,
                            "default_requires_approval": True,
                            "enable_parallel_execution": False,
                        },
                    ),
                ),
                **has(rule("add", "requires_approval")),
            ),
            [
                "warning: the registry has settings that no spec declares, and "
                "applying keeps them: `add` default_requires_approval True, "
                "`send_message` return_char_limit 7"
            ],
        ),
        (
            ADD,
            as_it_is(**has(tags=("origin:letta-code",))),
            ["warning: Letta Code opens me and removes all its rules"],
        ),
        (
            ADD,
            as_it_is(**has(rule("x", "run_first"), rule("y", "continue_loop"))),
            [
                "warning: the rule run_first of `x` of me refers to a tool that is not",
                "warning: me has rules of tools that are not attached, which have no "
                "effect: `y continue_loop`",
                "missing: me can never call `add`, `conversation_search`, `memory`, because",
            ],
        ),
        (
            ADD,
            as_it_is(**has(rule("add", "max_count_per_step", max_count_limit=3))),
            [
                "warning: me has rules that neither the specs nor the type "
                "letta_v1_agent require, and applying keeps them: `add "
                "max_count_per_step (max_count_limit=3)`"
            ],
        ),
        (
            ADD,
            as_it_is(
                **has(
                    baseline_tools={"add": (), "lost": (), "memory_insert": ()},
                    baseline_time="then",
                )
            ),
            [
                "missing: `lost` of me was deleted from the registry since the baseline",
                "missing: `memory_insert` of me was deleted from the registry since",
            ],
        ),
        # What an agent cannot do without.
        (
            ADD,
            as_it_is(
                registry=by_name(*map(built_in, (*CORE, "old")), registered("add")),
                **has(baseline_tools={"old": ()}, baseline_time="then"),
            ),
            ["missing: `old` was detached from me since the baseline of then"],
        ),
        (
            ADD,
            as_it_is(**has(names=("add",))),
            [
                "missing: me has no `conversation_search`, which a letta_v1_agent needs",
                "missing: me has no `memory_insert` or `core_memory_append` or `memory`,",
                "missing: me has no `memory_replace` or `core_memory_replace` or `memory` or",
            ],
        ),
        (
            desired(tool("add"), agents=(agent(forbids=dict.fromkeys(CORE, "No.")),)),
            as_it_is(**has(names=("add",))),
            [],
        ),
        (
            MEMGPT,
            as_it_is(**has(names=(*CORE[:2], "add"), type="memgpt_agent")),
            ["missing: me has no `send_message`, which a memgpt_agent needs to answer"],
        ),
        (
            ADD,
            as_it_is(**has(rule("memory", "exit_loop"))),
            ["missing: me ends its turn after `memory`, by a rule exit_loop"],
        ),
        (
            MEMGPT,
            as_it_is(**has(rule("send_message", "continue_loop"), type="memgpt_agent")),
            [
                (
                    "missing: me continues its turn after `send_message`, by a rule "
                    "continue_loop"
                )
            ],
        ),
        (
            MEMGPT,
            as_it_is(
                registry=by_name(
                    *map(built_in, CORE),
                    registered("add"),
                    registered("theirs", server_id="mcp-2"),
                ),
                **has(names=(*CORE, "add", "theirs"), type="memgpt_agent"),
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
            as_it_is(
                registry=by_name(
                    *map(built_in, CORE[:2]),
                    registered("add"),
                    registered("send_message", server_id="mcp-7"),
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
def test_what_is_refused_and_told(
    wanted: DesiredState, found: CurrentState, lines: list[str]
) -> None:
    said = told(planned(wanted, found))
    assert len(said) == len(lines), said
    assert [one[: len(line)] for one, line in zip(said, lines, strict=True)] == lines
