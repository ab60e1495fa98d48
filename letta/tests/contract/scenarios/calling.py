"""Contract scenarios for tool calls, without a model and in an agent's turns."""

from __future__ import annotations

from typing import Any

from letta.tests.changing_mcp import ChangingMcp, tool
from letta.tests.contract.exchange import Exchange
from letta.tests.contract.scenarios.refreshing import create_agent_with
from letta.tests.contract.scenarios.registering import INTEGER, build_entry

__all__ = ["SCENARIOS"]

RUN = "{status: status, said: func_return}"
TURN = (
    "{said: messages[?message_type != 'reasoning_message']"
    ".[message_type, name, status, content],"
    " stop: stop_reason.stop_reason, steps: usage.step_count}"
)
FINISH = {"tool": "send_message", "arguments": {"thinking": "-", "message": "Done."}}


def register_lab(letta: Exchange, *names: str) -> tuple[ChangingMcp, str]:
    """Register an MCP server whose tools accept `a`; return it and its entry's path."""
    lab = letta.mcp("lab", *(tool(name, a=INTEGER) for name in names))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    return lab, f"/v1/mcp-servers/{made['id']}"


def start_turn(letta: Exchange, agent: str, **more: Any) -> Any:
    """Send a user's message to an agent and record the turn."""
    body = {"messages": [{"role": "user", "content": "Go."}], **more}
    return letta.request("POST", f"{agent}/messages", body, keep=TURN)


def running(letta: Exchange) -> None:
    lab, server = register_lab(letta, "add", "fails", "empty")

    def fail(arguments: Any) -> Any:
        raise ValueError("out of paper")

    lab.answers["fails"] = fail
    lab.answers["empty"] = lambda arguments: ""
    agent = create_agent_with(letta, "add", "fails", "empty")
    for name in ("add", "fails", "empty"):
        run = f"{agent}/tools/{name}/run"
        letta.request("POST", run, {"args": {"a": 1}}, keep=RUN)
    listed = letta.request("GET", f"{server}/tools", keep="sort_by(@, &name)[].name")
    added = next(
        listed_tool["id"] for listed_tool in listed if listed_tool["name"] == "add"
    )
    letta.request("POST", f"{server}/tools/{added}/run", {"args": {"a": 2}}, keep=RUN)
    letta.request("POST", f"{agent}/tools/unknown/run", {"args": {}})
    lab.is_down = True
    letta.request("POST", f"{agent}/tools/add/run", {"args": {"a": 1}}, keep="status")


def in_a_turn(letta: Exchange) -> None:
    lab, _ = register_lab(letta, "add")
    model = letta.model()
    agent = create_agent_with(letta, "add", llm_config=model.llm_config)
    model.script = [{"tool": "add", "arguments": {"a": 1}}, {"text": "Done."}]
    start_turn(letta, agent)
    letta.note("the tools that the model is offered", model.list_offered_tools())
    path = lab.list_calls("add")[0].headers.get("x-agent-id")
    letta.note("the agent that the MCP server is told", f"/v1/agents/{path}" == agent)
    letta.note("what the tool gets", lab.list_calls("add")[0].arguments)


def steps(letta: Exchange) -> None:
    _, _ = register_lab(letta, "add")
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
            agent = create_agent_with(
                letta,
                "add",
                "send_message",
                agent_type=kind,
                tool_rules=[*rules, finish],
                llm_config=model.llm_config,
            )
            model.script = [first, last]
            start_turn(letta, agent)


def unattached(letta: Exchange) -> None:
    register_lab(letta, "add", "mul")
    model = letta.model()
    agent = create_agent_with(letta, "add", llm_config=model.llm_config)
    model.script = [{"tool": "mul", "arguments": {"a": 1}}, {"text": "Done."}]
    start_turn(letta, agent)


def stale_run_first(letta: Exchange) -> None:
    register_lab(letta, "add")
    model = letta.model()
    stale = {"tool_name": "gone", "type": "run_first"}
    agent = create_agent_with(
        letta, "add", tool_rules=[stale], llm_config=model.llm_config
    )
    model.script = [{"text": "Done."}]
    start_turn(letta, agent)
    letta.note("the tools that the model is offered", model.list_offered_tools())


def needs_approval(letta: Exchange) -> None:
    lab, _ = register_lab(letta, "add")
    model = letta.model()
    rule = {"tool_name": "add", "type": "requires_approval"}
    agent = create_agent_with(
        letta, "add", tool_rules=[rule], llm_config=model.llm_config
    )
    model.script = [{"tool": "add", "arguments": {"a": 1}}, {"text": "Done."}]
    asked = start_turn(letta, agent)
    letta.note("calls before the approval", len(lab.list_calls("add")))
    body = {"messages": [{"role": "user", "content": "Go on."}]}
    letta.request("POST", f"{agent}/messages", body, keep="detail.code")
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
    letta.request("POST", f"{agent}/messages", {"messages": [answer]}, keep=TURN)
    letta.note("calls behind it", len(lab.list_calls("add")))


SCENARIOS = (running, in_a_turn, steps, unattached, stale_run_first, needs_approval)
