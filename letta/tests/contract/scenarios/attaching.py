"""Contract scenarios for agents: their tools, rules, approvals and memory blocks."""

from __future__ import annotations

from typing import Any

from letta.tests.changing_mcp import tool
from letta.tests.contract.exchange import SDK, Exchange
from letta.tests.contract.scenarios.refreshing import ATTACHED, create_agent_with
from letta.tests.contract.scenarios.registering import INTEGER, MCP_TOOLS, build_entry

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


def register_lab_tools(letta: Exchange, *names: str) -> dict[str, str]:
    """Register an MCP server with these tools and return their ids by name."""
    lab = letta.mcp("lab", *(tool(name, a=INTEGER) for name in names))
    letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    listed = letta.request("GET", MCP_TOOLS, keep="sort_by(@, &name)[].[name, id]")
    return dict(
        sorted((listed_tool["name"], listed_tool["id"]) for listed_tool in listed)
    )


def defaults(letta: Exchange) -> None:
    for kind in ("letta_v1_agent", "memgpt_v2_agent", "memgpt_agent", "react_agent"):
        body = {"name": "new", "agent_type": kind, "llm_config": SILENT_MODEL}
        letta.request("POST", "/v1/agents/", body, keep=STATE)
    letta.request("GET", "/v1/agents/?limit=1000", keep="length(@)")


def creating(letta: Exchange) -> None:
    body = {"name": "new", "llm_config": SILENT_MODEL, "include_base_tools": False}
    letta.request("POST", "/v1/agents/", body, keep=f"[agent_type, {STATE}]")
    letta.request("POST", "/v1/agents/", {**body, "tools": ["nothing"]})
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    letta.request("POST", "/v1/agents/", {**body, "tool_ids": [unknown]})
    letta.request("GET", "/v1/agents/?limit=1000", keep="length(@)")


def shown(letta: Exchange) -> None:
    register_lab_tools(letta, "add")
    agent = create_agent_with(letta, "add")
    letta.request("GET", agent, keep=ATTACHED)
    letta.request("GET", agent, headers=SDK, keep=ATTACHED)
    letta.request("GET", f"{agent}?include=agent.tools", headers=SDK, keep=ATTACHED)
    listed = "[].{tools: tools[].name}"
    letta.request("GET", "/v1/agents/", keep=listed)
    letta.request("GET", "/v1/agents/", headers=SDK, keep=listed)
    letta.request("GET", "/v1/agents/agent-00000000-0000-4000-8000-000000000000")
    letta.request("GET", "/v1/agents/worker")
    letta.request("GET", f"{agent}/tools", keep="[].name")


def paged(letta: Exchange) -> None:
    names = [f"many_{number:02}" for number in range(35)]
    register_lab_tools(letta, *names)
    agent = create_agent_with(letta, *names)
    letta.request("GET", f"{agent}?include=agent.tools", keep="length(tools)")
    first = letta.request("GET", f"{agent}/tools", keep="length(@)")
    letta.request("GET", f"{agent}/tools?limit=1000", keep="length(@)")
    # The cursor is compared with ids, but the order is that of creation. With random ids,
    # the number of missing tools varies, so that only the fact is recorded.
    seen, page = {tool_["id"] for tool_ in first}, first
    for _ in range(40):
        if not page:
            break
        page = letta.request("GET", f"{agent}/tools?after={page[-1]['id']}")
        letta.lines.pop()
        seen |= {tool_["id"] for tool_ in page}
    letta.note("whether paging finds all 35", len(seen) == 35)


def attaching(letta: Exchange) -> None:
    ids = register_lab_tools(letta, "add", "mul")
    agent = create_agent_with(letta)
    attach, detach = f"{agent}/tools/attach", f"{agent}/tools/detach"
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    letta.request("POST", f"{agent}/tools/add/run", {"args": {"a": 1}})
    letta.request("PATCH", f"{attach}/{ids['add']}")
    letta.request("PATCH", f"{attach}/{ids['add']}")
    letta.request("PATCH", f"{attach}/{ids['mul']}")
    letta.request("PATCH", f"{attach}/{unknown}")
    letta.request("GET", agent, keep=ATTACHED)
    run = "{status: status, said: func_return}"
    letta.request("POST", f"{agent}/tools/add/run", {"args": {"a": 1}}, keep=run)
    letta.request("PATCH", f"{detach}/{ids['mul']}")
    letta.request("PATCH", f"{detach}/{ids['mul']}")
    letta.request("PATCH", f"{detach}/{unknown}")
    letta.request("GET", agent, keep=STATE)


def patching(letta: Exchange) -> None:
    ids = register_lab_tools(letta, "add", "mul")
    agent = create_agent_with(letta, "add", tool_rules=[CONTINUE])
    both = [ids["add"], ids["mul"]]
    letta.request("PATCH", agent, {"tool_ids": both}, keep=STATE)
    letta.request("PATCH", agent, {"tool_ids": None, "tool_rules": None}, keep=STATE)
    letta.request("PATCH", agent, {"tool_rules": []}, keep=STATE)
    letta.request("PATCH", agent, {"tool_rules": [CONTINUE]}, keep=STATE)
    letta.request("PATCH", agent, {"tool_ids": []}, keep=STATE)
    letta.request("PATCH", agent, {"tool_ids": [both[0], both[0]]}, keep=STATE)
    letta.request("PATCH", agent, {"tool_idz": both}, keep=STATE)
    letta.request(
        "PATCH", agent, {"tool_ids": both, "tool_rules": [CONTINUE]}, keep=STATE
    )


def refused(letta: Exchange) -> None:
    ids = register_lab_tools(letta, "add")
    agent = create_agent_with(letta, "add", tool_rules=[CONTINUE])
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    body: dict[str, Any] = {"tool_ids": [unknown], "tool_rules": [], "name": "changed"}
    letta.request("PATCH", agent, body)
    letta.request("GET", agent, keep=f"[name, {STATE}]")
    letta.request("PATCH", agent, {"tool_ids": ["nonsense"]})
    letta.request("PATCH", agent, {"tool_rules": [{"tool_name": "add", "type": "x"}]})
    letta.request("PATCH", agent, {"tool_rules": "all"})
    nobody = "/v1/agents/agent-00000000-0000-4000-8000-000000000000"
    letta.request("PATCH", nobody, {"tool_ids": [ids["add"]]})
    letta.request("GET", agent, keep=f"[name, {STATE}]")


def with_a_model(letta: Exchange) -> None:
    ids = register_lab_tools(letta, "add")
    body = {"name": "new", "agent_type": "memgpt_agent", "llm_config": SILENT_MODEL}
    made = letta.request("POST", "/v1/agents/", body, keep=STATE)
    by_name = sorted(made["tools"], key=lambda tool_: str(tool_["name"]))
    kept = [tool_["id"] for tool_ in by_name]
    both = {"tool_ids": [*kept, ids["add"]], "llm_config": SILENT_MODEL}
    letta.request("PATCH", f"/v1/agents/{made['id']}", both, keep=STATE)
    letta.request(
        "PATCH", f"/v1/agents/{made['id']}", {"tool_ids": [ids["add"]]}, keep=STATE
    )


def rules(letta: Exchange) -> None:
    agent = create_agent_with(letta)
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
    letta.request("PATCH", agent, {"tool_rules": every}, keep=kept)
    letta.request("GET", agent, keep="sort_by(tool_rules, &type)")


def approvals(letta: Exchange) -> None:
    ids = register_lab_tools(letta, "add", "mul")
    for tool_id in ids.values():
        body = {"default_requires_approval": True}
        letta.request("PATCH", f"/v1/tools/{tool_id}", body)
    agent = create_agent_with(letta)
    letta.request("PATCH", f"{agent}/tools/attach/{ids['add']}")
    letta.request("GET", agent, keep=STATE)
    letta.request("PATCH", agent, {"tool_ids": list(ids.values())}, keep=STATE)
    approval = f"{agent}/tools/approval/nothing"
    letta.request("PATCH", approval, {"requires_approval": True})
    letta.request("GET", agent, keep=STATE)
    second = create_agent_with(letta, "mul")
    letta.request("GET", second, keep=STATE)


def blocks(letta: Exchange) -> None:
    memory = [{"label": "ren_tools", "value": "Mine.", "limit": 50}]
    body = {"name": "new", "llm_config": SILENT_MODEL, "memory_blocks": memory}
    made = letta.request("POST", "/v1/agents/", body)
    block = f"/v1/agents/{made['id']}/core-memory/blocks/ren_tools"
    letta.request("GET", block, keep="[label, value, limit]")
    letta.request("PATCH", block, {"value": "Mine, and more."}, keep="[value, limit]")
    letta.request("PATCH", block, {"value": 51 * "x"})
    letta.request("GET", block, keep="[value, limit]")
    letta.request("GET", block.replace("ren_tools", "nothing"))
    letta.request("PATCH", block.replace("ren_tools", "nothing"), {"value": "x"})


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
