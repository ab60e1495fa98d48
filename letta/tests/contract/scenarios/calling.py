"""Calls of tools, without a model and in turns of an agent."""

from __future__ import annotations

from typing import Any

from letta.tests.changing_mcp import ChangingMcp, tool
from letta.tests.contract.exchange import Exchange
from letta.tests.contract.scenarios.refreshing import agent_with
from letta.tests.contract.scenarios.registering import INTEGER, entry

__all__ = ["SCENARIOS"]

RUN = "{status: status, said: func_return}"
TURN = (
    "{said: messages[?message_type != 'reasoning_message']"
    ".[message_type, name, status, content],"
    " stop: stop_reason.stop_reason, steps: usage.step_count}"
)
FINISH = {"tool": "send_message", "arguments": {"thinking": "-", "message": "Done."}}


def lab_with(letta: Exchange, *names: str) -> tuple[ChangingMcp, str]:
    """An MCP server whose tools take `a`, registered; and its entry's path."""
    lab = letta.mcp("lab", *(tool(name, a=INTEGER) for name in names))
    made = letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    return lab, f"/v1/mcp-servers/{made['id']}"


def turn(letta: Exchange, agent: str, **more: Any) -> Any:
    """One turn of an agent that a user starts."""
    said = {"messages": [{"role": "user", "content": "Go."}], **more}
    return letta.ask("POST", f"{agent}/messages", said, keep=TURN)


def running(letta: Exchange) -> None:
    lab, server = lab_with(letta, "add", "fails", "empty")

    def fail(arguments: Any) -> Any:
        raise ValueError("out of paper")

    lab.answers["fails"] = fail
    lab.answers["empty"] = lambda arguments: ""
    agent = agent_with(letta, "add", "fails", "empty")
    for name in ("add", "fails", "empty"):
        run = f"{agent}/tools/{name}/run"
        letta.ask("POST", run, {"args": {"a": 1}}, keep=RUN)
    listed = letta.ask("GET", f"{server}/tools", keep="sort_by(@, &name)[].name")
    added = next(one["id"] for one in listed if one["name"] == "add")
    letta.ask("POST", f"{server}/tools/{added}/run", {"args": {"a": 2}}, keep=RUN)
    letta.ask("POST", f"{agent}/tools/unknown/run", {"args": {}})
    lab.is_down = True
    letta.ask("POST", f"{agent}/tools/add/run", {"args": {"a": 1}}, keep="status")


def in_a_turn(letta: Exchange) -> None:
    lab, _ = lab_with(letta, "add")
    model = letta.model()
    agent = agent_with(letta, "add", llm_config=model.llm_config)
    model.script = [{"tool": "add", "arguments": {"a": 1}}, {"text": "Done."}]
    turn(letta, agent)
    letta.note("the tools that the model is offered", model.offered())
    path = lab.called("add")[0].headers.get("x-agent-id")
    letta.note("the agent that the MCP server is told", f"/v1/agents/{path}" == agent)
    letta.note("what the tool gets", lab.called("add")[0].arguments)


def steps(letta: Exchange) -> None:
    _, _ = lab_with(letta, "add")
    model = letta.model()
    goes_on = {"tool_name": "add", "type": "continue_loop"}
    ends = {"tool_name": "add", "type": "exit_loop"}
    call = {"tool": "add", "arguments": {"a": 1, "thinking": "-"}}
    beats = {
        "tool": "add",
        "arguments": {**call["arguments"], "request_heartbeat": True},
    }
    for kind in ("letta_v1_agent", "memgpt_v2_agent"):
        last = {"text": "Done."} if kind == "letta_v1_agent" else FINISH
        for rules, first in (
            ([], call),
            ([], beats),
            ([goes_on], call),
            ([ends], call),
        ):
            finish = {"tool_name": "send_message", "type": "exit_loop"}
            agent = agent_with(
                letta,
                "add",
                "send_message",
                agent_type=kind,
                tool_rules=[*rules, finish],
                llm_config=model.llm_config,
            )
            model.script = [first, last]
            turn(letta, agent)


def unattached(letta: Exchange) -> None:
    lab_with(letta, "add", "mul")
    model = letta.model()
    agent = agent_with(letta, "add", llm_config=model.llm_config)
    model.script = [{"tool": "mul", "arguments": {"a": 1}}, {"text": "Done."}]
    turn(letta, agent)


def stale_run_first(letta: Exchange) -> None:
    lab_with(letta, "add")
    model = letta.model()
    stale = {"tool_name": "gone", "type": "run_first"}
    agent = agent_with(letta, "add", tool_rules=[stale], llm_config=model.llm_config)
    model.script = [{"text": "Done."}]
    turn(letta, agent)
    letta.note("the tools that the model is offered", model.offered())


def needs_approval(letta: Exchange) -> None:
    lab, _ = lab_with(letta, "add")
    model = letta.model()
    rule = {"tool_name": "add", "type": "requires_approval"}
    agent = agent_with(letta, "add", tool_rules=[rule], llm_config=model.llm_config)
    model.script = [{"tool": "add", "arguments": {"a": 1}}, {"text": "Done."}]
    asked = turn(letta, agent)
    letta.note("calls before the approval", len(lab.called("add")))
    said = {"messages": [{"role": "user", "content": "Go on."}]}
    letta.ask("POST", f"{agent}/messages", said, keep="detail.code")
    request = asked["messages"][-1]
    answer = {
        "type": "approval",
        "approvals": [
            {
                "type": "approval",
                "tool_call_id": request["tool_call"]["tool_call_id"],
                "approve": True,
            }
        ],
        "approval_request_id": request["id"],
    }
    letta.ask("POST", f"{agent}/messages", {"messages": [answer]}, keep=TURN)
    letta.note("calls behind it", len(lab.called("add")))


SCENARIOS = (
    running,
    in_a_turn,
    steps,
    unattached,
    stale_run_first,
    needs_approval,
)
