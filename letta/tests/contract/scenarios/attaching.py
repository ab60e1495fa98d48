"""Agents: what is shown of them, attached to them, and written to them."""

from __future__ import annotations

from typing import Any

from letta.tests.changing_mcp import tool
from letta.tests.contract.exchange import SDK, Exchange
from letta.tests.contract.scenarios.refreshing import ATTACHED, agent_with
from letta.tests.contract.scenarios.registering import INTEGER, MCP_TOOLS, entry

__all__ = ["SCENARIOS"]

STATE = (
    "{tools: sort(tools[].name),"
    " rules: sort_by(tool_rules, &tool_name)[].[tool_name, type]}"
)
CONTINUE = {"tool_name": "add", "type": "continue_loop"}
SILENT_MODEL = {
    "model": "none",
    "model_endpoint_type": "openai",
    "model_endpoint": "http://127.0.0.1:9/v1",
    "context_window": 32000,
}


def lab_tools(letta: Exchange, *names: str) -> dict[str, str]:
    """An MCP server with these tools, registered; gives their ids."""
    lab = letta.mcp("lab", *(tool(name, a=INTEGER) for name in names))
    letta.ask("POST", "/v1/mcp-servers/", entry("lab", lab.url))
    listed = letta.ask("GET", MCP_TOOLS, keep="sort_by(@, &name)[].[name, id]")
    return dict(sorted((one["name"], one["id"]) for one in listed))


def defaults(letta: Exchange) -> None:
    for kind in ("letta_v1_agent", "memgpt_v2_agent", "memgpt_agent", "react_agent"):
        body = {"name": "new", "agent_type": kind, "llm_config": SILENT_MODEL}
        letta.ask("POST", "/v1/agents/", body, keep=STATE)
    letta.ask("GET", "/v1/agents/?limit=1000", keep="length(@)")


def creating(letta: Exchange) -> None:
    body = {"name": "new", "llm_config": SILENT_MODEL, "include_base_tools": False}
    letta.ask("POST", "/v1/agents/", body, keep=f"[agent_type, {STATE}]")
    letta.ask("POST", "/v1/agents/", {**body, "tools": ["nothing"]})
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    letta.ask("POST", "/v1/agents/", {**body, "tool_ids": [unknown]})
    letta.ask("GET", "/v1/agents/?limit=1000", keep="length(@)")


def shown(letta: Exchange) -> None:
    lab_tools(letta, "add")
    agent = agent_with(letta, "add")
    letta.ask("GET", agent, keep=ATTACHED)
    letta.ask("GET", agent, headers=SDK, keep=ATTACHED)
    letta.ask("GET", f"{agent}?include=agent.tools", headers=SDK, keep=ATTACHED)
    listed = "[].{tools: tools[].name}"
    letta.ask("GET", "/v1/agents/", keep=listed)
    letta.ask("GET", "/v1/agents/", headers=SDK, keep=listed)
    letta.ask("GET", "/v1/agents/agent-00000000-0000-4000-8000-000000000000")
    letta.ask("GET", "/v1/agents/worker")
    letta.ask("GET", f"{agent}/tools", keep="[].name")


def paged(letta: Exchange) -> None:
    names = [f"many_{number:02}" for number in range(35)]
    lab_tools(letta, *names)
    agent = agent_with(letta, *names)
    letta.ask("GET", f"{agent}?include=agent.tools", keep="length(tools)")
    first = letta.ask("GET", f"{agent}/tools", keep="length(@)")
    letta.ask("GET", f"{agent}/tools?limit=1000", keep="length(@)")
    # A cursor is compared with ids, and the order is that of creation: with random ids
    # only the kind of damage can be told, not its size.
    seen, page = {one["id"] for one in first}, first
    for _ in range(40):
        if not page:
            break
        page = letta.ask("GET", f"{agent}/tools?after={page[-1]['id']}")
        letta.lines.pop()
        seen |= {one["id"] for one in page}
    letta.note("whether paging finds all 35", len(seen) == 35)


def attaching(letta: Exchange) -> None:
    ids = lab_tools(letta, "add", "mul")
    agent = agent_with(letta)
    attach, detach = f"{agent}/tools/attach", f"{agent}/tools/detach"
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    letta.ask("POST", f"{agent}/tools/add/run", {"args": {"a": 1}})
    letta.ask("PATCH", f"{attach}/{ids['add']}")
    letta.ask("PATCH", f"{attach}/{ids['add']}")
    letta.ask("PATCH", f"{attach}/{ids['mul']}")
    letta.ask("PATCH", f"{attach}/{unknown}")
    letta.ask("GET", agent, keep=ATTACHED)
    run = "{status: status, said: func_return}"
    letta.ask("POST", f"{agent}/tools/add/run", {"args": {"a": 1}}, keep=run)
    letta.ask("PATCH", f"{detach}/{ids['mul']}")
    letta.ask("PATCH", f"{detach}/{ids['mul']}")
    letta.ask("PATCH", f"{detach}/{unknown}")
    letta.ask("GET", agent, keep=STATE)


def patching(letta: Exchange) -> None:
    ids = lab_tools(letta, "add", "mul")
    agent = agent_with(letta, "add", tool_rules=[CONTINUE])
    both = [ids["add"], ids["mul"]]
    letta.ask("PATCH", agent, {"tool_ids": both}, keep=STATE)
    letta.ask("PATCH", agent, {"tool_ids": None, "tool_rules": None}, keep=STATE)
    letta.ask("PATCH", agent, {"tool_rules": []}, keep=STATE)
    letta.ask("PATCH", agent, {"tool_rules": [CONTINUE]}, keep=STATE)
    letta.ask("PATCH", agent, {"tool_ids": []}, keep=STATE)
    letta.ask("PATCH", agent, {"tool_ids": [both[0], both[0]]}, keep=STATE)
    letta.ask("PATCH", agent, {"tool_idz": both}, keep=STATE)
    letta.ask("PATCH", agent, {"tool_ids": both, "tool_rules": [CONTINUE]}, keep=STATE)


def refused(letta: Exchange) -> None:
    ids = lab_tools(letta, "add")
    agent = agent_with(letta, "add", tool_rules=[CONTINUE])
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    body: dict[str, Any] = {"tool_ids": [unknown], "tool_rules": [], "name": "changed"}
    letta.ask("PATCH", agent, body)
    letta.ask("GET", agent, keep=f"[name, {STATE}]")
    letta.ask("PATCH", agent, {"tool_ids": ["nonsense"]})
    letta.ask("PATCH", agent, {"tool_rules": [{"tool_name": "add", "type": "x"}]})
    letta.ask("PATCH", agent, {"tool_rules": "all"})
    nobody = "/v1/agents/agent-00000000-0000-4000-8000-000000000000"
    letta.ask("PATCH", nobody, {"tool_ids": [ids["add"]]})
    letta.ask("GET", agent, keep=f"[name, {STATE}]")


def with_a_model(letta: Exchange) -> None:
    ids = lab_tools(letta, "add")
    body = {"name": "new", "agent_type": "memgpt_agent", "llm_config": SILENT_MODEL}
    made = letta.ask("POST", "/v1/agents/", body, keep=STATE)
    by_name = sorted(made["tools"], key=lambda one: str(one["name"]))
    kept = [one["id"] for one in by_name]
    both = {"tool_ids": [*kept, ids["add"]], "llm_config": SILENT_MODEL}
    letta.ask("PATCH", f"/v1/agents/{made['id']}", both, keep=STATE)
    letta.ask(
        "PATCH", f"/v1/agents/{made['id']}", {"tool_ids": [ids["add"]]}, keep=STATE
    )


def rules(letta: Exchange) -> None:
    agent = agent_with(letta)
    every = [
        {"tool_name": "a", "type": "run_first"},
        {"tool_name": "a", "type": "exit_loop"},
        {"tool_name": "a", "type": "continue_loop"},
        {"tool_name": "a", "type": "constrain_child_tools", "children": ["b"]},
        {"tool_name": "a", "type": "parent_last_tool", "children": ["b"]},
        {
            "tool_name": "a",
            "type": "conditional",
            "child_output_mapping": {"x": "b"},
            "default_child": "b",
        },
        {"tool_name": "a", "type": "max_count_per_step", "max_count_limit": 2},
        {"tool_name": "a", "type": "required_before_exit"},
        {"tool_name": "a", "type": "requires_approval"},
    ]
    kept = "sort_by(tool_rules, &type)[].type"
    letta.ask("PATCH", agent, {"tool_rules": every}, keep=kept)
    letta.ask("GET", agent, keep="sort_by(tool_rules, &type)")


def approvals(letta: Exchange) -> None:
    ids = lab_tools(letta, "add", "mul")
    for tool_id in ids.values():
        body = {"default_requires_approval": True}
        letta.ask("PATCH", f"/v1/tools/{tool_id}", body)
    agent = agent_with(letta)
    letta.ask("PATCH", f"{agent}/tools/attach/{ids['add']}")
    letta.ask("GET", agent, keep=STATE)
    letta.ask("PATCH", agent, {"tool_ids": list(ids.values())}, keep=STATE)
    approval = f"{agent}/tools/approval/nothing"
    letta.ask("PATCH", approval, {"requires_approval": True})
    letta.ask("GET", agent, keep=STATE)
    second = agent_with(letta, "mul")
    letta.ask("GET", second, keep=STATE)


def blocks(letta: Exchange) -> None:
    memory = [{"label": "ren_tools", "value": "Mine.", "limit": 50}]
    body = {"name": "new", "llm_config": SILENT_MODEL, "memory_blocks": memory}
    made = letta.ask("POST", "/v1/agents/", body)
    block = f"/v1/agents/{made['id']}/core-memory/blocks/ren_tools"
    letta.ask("GET", block, keep="[label, value, limit]")
    letta.ask("PATCH", block, {"value": "Mine, and more."}, keep="[value, limit]")
    letta.ask("PATCH", block, {"value": 51 * "x"})
    letta.ask("GET", block, keep="[value, limit]")
    letta.ask("GET", block.replace("ren_tools", "nothing"))
    letta.ask("PATCH", block.replace("ren_tools", "nothing"), {"value": "x"})


SCENARIOS = (
    defaults,
    creating,
    shown,
    paged,
    attaching,
    patching,
    refused,
    with_a_model,
    rules,
    approvals,
    blocks,
)
