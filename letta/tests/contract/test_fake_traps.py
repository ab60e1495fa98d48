"""Traps of a real Letta server that the fake server reproduces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from letta.tests.fake_letta import BUILT_INS, FakeLetta, PlantedServer, World

MCP = "http://mcp.test/mcp"
CONFIG = {"mcp_server_type": "streamable_http", "server_url": MCP}


def make_definition(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": []}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema}


@pytest.fixture
def mcp_server() -> PlantedServer:
    return PlantedServer()


@pytest.fixture
def fake(mcp_server: PlantedServer) -> Iterator[FakeLetta]:
    with FakeLetta(World()) as running:
        running.world.servers[MCP] = mcp_server
        yield running


@pytest.fixture
def client(fake: FakeLetta) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=fake.url) as client:
        yield client


def create_entry(
    client: httpx.Client, name: str = "toy", **more: Any
) -> dict[str, Any]:
    """Register the MCP server at Letta and return its entry."""
    body = {"server_name": name, "config": {**CONFIG, **more}}
    response = client.post("/v1/mcp-servers/", json=body)
    response.raise_for_status()
    return dict(response.json())


def list_tool_names(client: httpx.Client, agent: str) -> list[str]:
    shown = client.get(f"/v1/agents/{agent}", params={"include": "agent.tools"}).json()
    return sorted(tool["name"] for tool in shown["tools"])


def test_agent_for_sdk_has_no_tools_without_include_parameter(
    client: httpx.Client,
) -> None:
    agent = client.post("/v1/agents/", json={"name": "a"}).json()["id"]
    sdk = {"X-Stainless-Package-Version": "1.12.1"}
    assert client.get(f"/v1/agents/{agent}", headers=sdk).json()["tools"] == []
    assert len(client.get(f"/v1/agents/{agent}").json()["tools"]) == 3
    with_tools = client.get(
        f"/v1/agents/{agent}", headers=sdk, params={"include": "agent.tools"}
    )
    assert len(with_tools.json()["tools"]) == 3


def test_paging_through_attached_tools_misses_tools(
    client: httpx.Client, mcp_server: PlantedServer
) -> None:
    mcp_server.offer(*(make_definition(f"tool_{number}") for number in range(30)))
    create_entry(client)
    listed = client.get("/v1/tools/", params={"limit": 1000}).json()
    ids = [tool["id"] for tool in listed if tool["tool_type"] == "external_mcp"]
    agent = client.post("/v1/agents/", json={"tool_ids": ids}).json()["id"]
    first = client.get(f"/v1/agents/{agent}/tools").json()
    assert len(first) == 10
    seen = {tool["id"] for tool in first}
    for _ in range(10):
        page = client.get(
            f"/v1/agents/{agent}/tools", params={"after": first[-1]["id"]}
        ).json()
        if not page:
            break
        seen |= {tool["id"] for tool in page}
        first = page
    assert len(seen) < 33, "the cursor is broken, as it is"
    assert len(list_tool_names(client, agent)) == 33


def test_unreachable_servers_and_unknown_fields_cause_no_error(
    client: httpx.Client, mcp_server: PlantedServer
) -> None:
    """Letta answers requests that have no effect with 200, or with an empty list."""
    mcp_server.is_down = True
    down = create_entry(client)
    assert client.get(f"/v1/mcp-servers/{down['id']}/tools").json() == []
    agent = client.post("/v1/agents/", json={}).json()["id"]
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    path = f"/v1/agents/{agent}"
    assert client.patch(path, json={"tool_idz": [unknown]}).status_code == 200
    assert client.patch(f"{path}/tools/detach/{unknown}").status_code == 200
    assert client.patch(f"{path}/tools/attach/{unknown}").status_code == 404
    rule = {"tool_name": "nobody", "type": "run_first"}
    assert client.patch(path, json={"tool_rules": [rule]}).status_code == 200
    assert client.get("/v1/mcp-servers/mcp_server-x/tools").json() == []
    assert client.get("/v1/agents").status_code == 307
    change = {"config": {**CONFIG, "auth_token": "new", "auth_header": "X"}}
    rotated = client.patch(f"/v1/mcp-servers/{down['id']}", json=change)
    assert (rotated.status_code, rotated.json().get("auth_token")) == (200, None)


def test_agent_patch_is_atomic_and_replaces_listed_tools(client: httpx.Client) -> None:
    agent = client.post("/v1/agents/", json={"agent_type": "memgpt_v2_agent"}).json()
    path = f"/v1/agents/{agent['id']}"
    unknown = "tool-00000000-0000-4000-8000-000000000000"
    response = client.patch(path, json={"tool_ids": [unknown], "tool_rules": []})
    assert response.status_code == 409
    assert "tools_agents_tool_id_fkey" in response.json()["detail"]
    assert client.get(path).json()["tool_rules"] == agent["tool_rules"]
    only = next(t["id"] for t in agent["tools"] if t["name"] == "send_message")
    client.patch(path, json={"tool_ids": [only]})
    assert list_tool_names(client, agent["id"]) == ["send_message"]
    assert (
        client.get(path).json()["tool_rules"] == agent["tool_rules"]
    ), "null: no change"


def test_mcp_tool_replaces_built_in_with_same_name_and_deletion_detaches_it(
    client: httpx.Client, mcp_server: PlantedServer
) -> None:
    agent = client.post("/v1/agents/", json={"tools": ["core_memory_append"]}).json()[
        "id"
    ]
    mcp_server.offer(make_definition("core_memory_append"))
    captor = create_entry(client)
    listed = client.get("/v1/tools/", params={"limit": 1000}).json()
    captured = next(tool for tool in listed if tool["name"] == "core_memory_append")
    assert captured["tool_type"] == "external_mcp"
    client.delete(f"/v1/mcp-servers/{captor['id']}")
    assert "core_memory_append" not in list_tool_names(client, agent)
    listed_again = client.get("/v1/tools/", params={"limit": 1000}).json()
    restored = next(
        tool for tool in listed_again if tool["name"] == "core_memory_append"
    )
    assert restored["id"] != captured["id"]
    assert "core_memory_append" not in list_tool_names(client, agent)


def test_listing_tools_by_type_restores_built_in_tools(
    client: httpx.Client, mcp_server: PlantedServer
) -> None:
    mcp_server.offer(make_definition("memory"))
    create_entry(client)
    client.get("/v1/tools/", params={"tool_types": "external_mcp"})
    listed = client.get("/v1/tools/", params={"limit": 1000}).json()
    assert [t["tool_type"] for t in listed if t["name"] == "memory"] == [
        "letta_memory_core"
    ]


def test_refresh_reads_only_50_tools_and_deletes_missing_tools(
    client: httpx.Client, mcp_server: PlantedServer, fake: FakeLetta
) -> None:
    mcp_server.offer(*(make_definition(f"tool_{number:02}") for number in range(40)))
    toy = create_entry(client)
    path = f"/v1/mcp-servers/{toy['id']}/refresh"
    assert (
        len(client.patch(path).json()["added"]) == 16
    ), "26 built-ins and 24 tools seen"
    assert len(client.patch(path).json()["added"]) == 16, "for ever"
    mcp_server.tools.clear()
    assert len(client.patch(path).json()["deleted"]) == 24
    assert len(client.patch(path).json()["deleted"]) == 16
    mcp_server.is_down = True
    assert client.patch(path).status_code == 404
    assert len(fake.world.tools) == sum(len(group) for group in BUILT_INS.values())


def test_registering_a_tool_again_resets_its_settings(
    client: httpx.Client, mcp_server: PlantedServer
) -> None:
    mcp_server.offer(make_definition("pay"))
    toy = create_entry(client)
    tool = client.get(f"/v1/mcp-servers/{toy['id']}/tools").json()[0]
    client.patch(f"/v1/tools/{tool['id']}", json={"default_requires_approval": True})
    client.patch(f"/v1/mcp-servers/{toy['id']}/refresh")
    assert client.get(f"/v1/tools/{tool['id']}").json()["default_requires_approval"]
    client.post("/v1/tools/mcp/servers/toy/pay")
    stored = client.get(f"/v1/tools/{tool['id']}").json()
    assert stored["default_requires_approval"] is None
    assert client.post("/v1/tools/mcp/servers/toy/nothing").status_code == 500


def test_turn_continues_only_after_tool_with_continue_rule(
    client: httpx.Client, mcp_server: PlantedServer, fake: FakeLetta
) -> None:
    mcp_server.offer(make_definition("add"))
    create_entry(client)
    body = {"agent_type": "memgpt_v2_agent", "tools": ["add"]}
    agent = client.post("/v1/agents/", json=body).json()
    path = f"/v1/agents/{agent['id']}"

    def count_steps() -> int:
        fake.script[:] = [{"tool": "add"}, {"tool": "send_message"}]
        message = {"messages": [{"role": "user", "content": "Add."}]}
        return int(
            client.post(f"{path}/messages", json=message).json()["usage"]["step_count"]
        )

    assert count_steps() == 1
    rule = {"tool_name": "add", "type": "continue_loop"}
    client.patch(path, json={"tool_rules": [*agent["tool_rules"], rule]})
    assert count_steps() == 2
    assert mcp_server.calls[-1][2]["X-Agent-Id"] == agent["id"]


def test_invalid_schemas_and_later_pages_are_skipped_without_error(
    client: httpx.Client, mcp_server: PlantedServer
) -> None:
    mcp_server.offer(
        make_definition("bad", rows={"type": "array"}), make_definition("good")
    )
    mcp_server.offer(make_definition("late"))
    mcp_server.page = 2
    toy = create_entry(client)
    registered = client.get(f"/v1/mcp-servers/{toy['id']}/tools").json()
    assert [tool["name"] for tool in registered] == ["good"]
    live = client.get("/v1/tools/mcp/servers/toy/tools").json()
    assert [tool["health"]["status"] for tool in live] == [
        "INVALID",
        "STRICT_COMPLIANT",
    ]
