"""The traps of a real server, in the fake: what each request really does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from letta.tests.fake_letta import BUILT_INS, FakeLetta, PlantedServer, World

MCP = "http://mcp.test/mcp"
CONFIG = {"mcp_server_type": "streamable_http", "server_url": MCP}


def definition(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": []}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema}


@pytest.fixture
def planted() -> PlantedServer:
    return PlantedServer()


@pytest.fixture
def fake(planted: PlantedServer) -> Iterator[FakeLetta]:
    with FakeLetta(World()) as running:
        running.world.servers[MCP] = planted
        yield running


@pytest.fixture
def ask(fake: FakeLetta) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=fake.url) as client:
        yield client


def entry(ask: httpx.Client, name: str = "toy", **more: Any) -> dict[str, Any]:
    body = {"server_name": name, "config": {**CONFIG, **more}}
    response = ask.post("/v1/mcp-servers/", json=body)
    response.raise_for_status()
    return dict(response.json())


def names(ask: httpx.Client, agent: str) -> list[str]:
    shown = ask.get(f"/v1/agents/{agent}", params={"include": "agent.tools"}).json()
    return sorted(tool["name"] for tool in shown["tools"])


def test_an_sdk_sees_no_tools_unless_it_asks_for_them(ask: httpx.Client) -> None:
    agent = ask.post("/v1/agents/", json={"name": "a"}).json()["id"]
    sdk = {"X-Stainless-Package-Version": "1.12.1"}
    assert ask.get(f"/v1/agents/{agent}", headers=sdk).json()["tools"] == []
    assert len(ask.get(f"/v1/agents/{agent}").json()["tools"]) == 3
    asked = ask.get(
        f"/v1/agents/{agent}", headers=sdk, params={"include": "agent.tools"}
    )
    assert len(asked.json()["tools"]) == 3


def test_pages_of_attached_tools_lose_some(
    ask: httpx.Client, planted: PlantedServer
) -> None:
    planted.offer(*(definition(f"tool_{number}") for number in range(30)))
    entry(ask)
    listed = ask.get("/v1/tools/", params={"limit": 1000}).json()
    ids = [tool["id"] for tool in listed if tool["tool_type"] == "external_mcp"]
    agent = ask.post("/v1/agents/", json={"tool_ids": ids}).json()["id"]
    first = ask.get(f"/v1/agents/{agent}/tools").json()
    assert len(first) == 10
    seen = {tool["id"] for tool in first}
    for _ in range(10):
        page = ask.get(
            f"/v1/agents/{agent}/tools", params={"after": first[-1]["id"]}
        ).json()
        if not page:
            break
        seen |= {tool["id"] for tool in page}
        first = page
    assert len(seen) < 33, "the cursor is broken, as it is"
    assert len(names(ask, agent)) == 33


def test_what_is_silent(ask: httpx.Client, planted: PlantedServer) -> None:
    planted.is_down = True
    down = entry(ask)
    assert ask.get(f"/v1/mcp-servers/{down['id']}/tools").json() == []
    agent = ask.post("/v1/agents/", json={}).json()["id"]
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    path = f"/v1/agents/{agent}"
    assert ask.patch(path, json={"tool_idz": [unknown]}).status_code == 200
    assert ask.patch(f"{path}/tools/detach/{unknown}").status_code == 200
    assert ask.patch(f"{path}/tools/attach/{unknown}").status_code == 404
    rule = {"tool_name": "nobody", "type": "run_first"}
    assert ask.patch(path, json={"tool_rules": [rule]}).status_code == 200
    assert ask.get("/v1/mcp-servers/mcp_server-x/tools").json() == []
    assert ask.get("/v1/agents").status_code == 307
    change = {"config": {**CONFIG, "auth_token": "new", "auth_header": "X"}}
    rotated = ask.patch(f"/v1/mcp-servers/{down['id']}", json=change)
    assert (rotated.status_code, rotated.json().get("auth_token")) == (200, None)


def test_a_patch_is_all_or_nothing_and_replaces(ask: httpx.Client) -> None:
    agent = ask.post("/v1/agents/", json={"agent_type": "memgpt_v2_agent"}).json()
    path = f"/v1/agents/{agent['id']}"
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    refused = ask.patch(path, json={"tool_ids": [unknown], "tool_rules": []})
    assert refused.status_code == 409
    assert "tools_agents_tool_id_fkey" in refused.json()["detail"]
    assert ask.get(path).json()["tool_rules"] == agent["tool_rules"]
    only = next(t["id"] for t in agent["tools"] if t["name"] == "send_message")
    ask.patch(path, json={"tool_ids": [only]})
    assert names(ask, agent["id"]) == ["send_message"]
    assert ask.get(path).json()["tool_rules"] == agent["tool_rules"], "null: no change"


def test_names_are_captured_and_their_deletion_reaches_every_agent(
    ask: httpx.Client, planted: PlantedServer
) -> None:
    agent = ask.post("/v1/agents/", json={"tools": ["core_memory_append"]}).json()["id"]
    planted.offer(definition("core_memory_append"))
    captor = entry(ask)
    listed = ask.get("/v1/tools/", params={"limit": 1000}).json()
    taken = next(tool for tool in listed if tool["name"] == "core_memory_append")
    assert taken["tool_type"] == "external_mcp"
    ask.delete(f"/v1/mcp-servers/{captor['id']}")
    assert "core_memory_append" not in names(ask, agent)
    again = ask.get("/v1/tools/", params={"limit": 1000}).json()
    made = next(tool for tool in again if tool["name"] == "core_memory_append")
    assert made["id"] != taken["id"]
    assert "core_memory_append" not in names(ask, agent)


def test_a_filtered_list_puts_every_built_in_back(
    ask: httpx.Client, planted: PlantedServer
) -> None:
    planted.offer(definition("memory"))
    entry(ask)
    ask.get("/v1/tools/", params={"tool_types": "external_mcp"})
    listed = ask.get("/v1/tools/", params={"limit": 1000}).json()
    assert [t["tool_type"] for t in listed if t["name"] == "memory"] == [
        "letta_memory_core"
    ]


def test_refresh_deletes_and_is_blind_beyond_fifty(
    ask: httpx.Client, planted: PlantedServer, fake: FakeLetta
) -> None:
    planted.offer(*(definition(f"tool_{number:02}") for number in range(40)))
    toy = entry(ask)
    path = f"/v1/mcp-servers/{toy['id']}/refresh"
    assert len(ask.patch(path).json()["added"]) == 16, "26 built-ins and 24 tools seen"
    assert len(ask.patch(path).json()["added"]) == 16, "for ever"
    planted.tools.clear()
    assert len(ask.patch(path).json()["deleted"]) == 24
    assert len(ask.patch(path).json()["deleted"]) == 16
    planted.is_down = True
    assert ask.patch(path).status_code == 404
    assert len(fake.world.tools) == sum(len(group) for group in BUILT_INS.values())


def test_registering_again_resets_the_settings(
    ask: httpx.Client, planted: PlantedServer
) -> None:
    planted.offer(definition("pay"))
    toy = entry(ask)
    tool = ask.get(f"/v1/mcp-servers/{toy['id']}/tools").json()[0]
    ask.patch(f"/v1/tools/{tool['id']}", json={"default_requires_approval": True})
    ask.patch(f"/v1/mcp-servers/{toy['id']}/refresh")
    assert ask.get(f"/v1/tools/{tool['id']}").json()["default_requires_approval"]
    ask.post("/v1/tools/mcp/servers/toy/pay")
    again = ask.get(f"/v1/tools/{tool['id']}").json()
    assert again["default_requires_approval"] is None
    assert ask.post("/v1/tools/mcp/servers/toy/nothing").status_code == 500


def test_one_step_without_a_continue_rule(
    ask: httpx.Client, planted: PlantedServer, fake: FakeLetta
) -> None:
    planted.offer(definition("add"))
    entry(ask)
    body = {"agent_type": "memgpt_v2_agent", "tools": ["add"]}
    agent = ask.post("/v1/agents/", json=body).json()
    path = f"/v1/agents/{agent['id']}"

    def steps() -> int:
        fake.script[:] = [{"tool": "add"}, {"tool": "send_message"}]
        said = {"messages": [{"role": "user", "content": "Add."}]}
        return int(
            ask.post(f"{path}/messages", json=said).json()["usage"]["step_count"]
        )

    assert steps() == 1
    rule = {"tool_name": "add", "type": "continue_loop"}
    ask.patch(path, json={"tool_rules": [*agent["tool_rules"], rule]})
    assert steps() == 2
    assert planted.calls[-1][2]["X-Agent-Id"] == agent["id"]


def test_invalid_schemas_and_later_pages_are_skipped_in_silence(
    ask: httpx.Client, planted: PlantedServer
) -> None:
    planted.offer(definition("bad", rows={"type": "array"}), definition("good"))
    planted.offer(definition("late"))
    planted.page = 2
    toy = entry(ask)
    registered = ask.get(f"/v1/mcp-servers/{toy['id']}/tools").json()
    assert [tool["name"] for tool in registered] == ["good"]
    live = ask.get("/v1/tools/mcp/servers/toy/tools").json()
    assert [tool["health"]["status"] for tool in live] == [
        "INVALID",
        "STRICT_COMPLIANT",
    ]
