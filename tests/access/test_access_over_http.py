"""Access of each client of toolset.yaml to each tool over HTTP, with its own token."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.access.matrix import CLIENTS, TOOLS, allows, get_names, list_allowed
from tests.http.serving import Server, run_server

TOKENS = {f"KIRISHIMA_TOKEN_{c.upper()}": f"{c}-token-a81" for c in CLIENTS}
ADMIN = "admin-token-c7f"
each_client = pytest.mark.parametrize("client", CLIENTS)
pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("server_url")]


@pytest.fixture(scope="module")
def server(server_url: str) -> Iterator[Server]:
    admin = {"KIRISHIMA_ADMIN_TOKEN": ADMIN, "KIRISHIMA_PERSONAL_MCP_URL": server_url}
    with run_server(env={**TOKENS, **admin}) as running:
        yield running


def token_for(client: str) -> str:
    return TOKENS[f"KIRISHIMA_TOKEN_{client.upper()}"]


def path_for(client: str) -> str:
    return "/mcp/" if client == "internal" else f"/mcp/{client}/"


@pytest.mark.parametrize("stateless", [False, True], ids=["legacy", "modern"])
@each_client
def test_http_endpoint_lists_and_calls_exactly_the_tools_allowed_to_its_client(
    server: Server, client: str, stateless: bool
) -> None:
    """A call to another tool is an error of invalid params."""
    path, token = path_for(client), token_for(client)
    answer = server.request(path, "tools/list", token=token, modern=stateless)
    assert get_names(answer.message["result"]["tools"]) == list_allowed(client)
    for tool in TOOLS:
        call = {"name": tool, "arguments": {"action": "nonsense"}}
        message = server.request(
            path, "tools/call", call, token=token, modern=stateless
        ).message
        if allows(client, tool):
            assert message["result"]["isError"] is True
            assert "nknown tool" not in str(message)
        else:
            error = {"code": -32602, "message": f"Unknown tool: {tool}"}
            assert message["error"] == error


@each_client
def test_http_request_without_the_clients_token_gets_401(
    server: Server, client: str
) -> None:
    call = {"name": "memory", "arguments": {"action": "nonsense"}}
    tokens = [None, ADMIN, *(token_for(other) for other in CLIENTS if other != client)]
    for token in tokens:
        for method, params in (("tools/list", {}), ("tools/call", call)):
            answer = server.request(path_for(client), method, params, token=token)
            assert answer.status == 401
            assert "memory" not in answer.body.decode()


def test_admin_route_lists_exactly_each_clients_allowed_tools(server: Server) -> None:
    headers = {"Authorization": f"Bearer {ADMIN}"}
    answer = server.send("/api/admin/list-mcp-tools", b"", headers, "GET")
    clients = json.loads(answer.body)["clients"]
    listed = {client: get_names(entry["tools"]) for client, entry in clients.items()}
    assert listed == {client: list_allowed(client) for client in CLIENTS}
