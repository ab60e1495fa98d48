"""Access of each client of toolset.yaml to each tool over HTTP, with its own token."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.access.matrix import CLIENTS, allows, cells, get_names
from tests.http.serving import Server, run_server

TOKENS = {f"KIRISHIMA_TOKEN_{c.upper()}": f"{c}-token-a81" for c in CLIENTS}
ADMIN = "admin-token-c7f"
both_protocols = pytest.mark.parametrize(
    "stateless", [False, True], ids=["legacy", "modern"]
)


pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("server_url")]


@pytest.fixture(scope="module")
def server(server_url: str) -> Iterator[Server]:
    environment = {**TOKENS, "KIRISHIMA_ADMIN_TOKEN": ADMIN}
    with run_server(
        env={**environment, "KIRISHIMA_PERSONAL_MCP_URL": server_url}
    ) as running:
        yield running


def token_for(client: str) -> str:
    return TOKENS[f"KIRISHIMA_TOKEN_{client.upper()}"]


def path_for(client: str) -> str:
    return "/mcp/" if client == "internal" else f"/mcp/{client}/"


@pytest.mark.rows(4)
@both_protocols
@cells
def test_http_tools_list_has_exactly_the_tools_allowed_to_the_endpoints_client(
    server: Server, client: str, tool: str, stateless: bool
) -> None:
    answer = server.request(
        path_for(client), "tools/list", token=token_for(client), modern=stateless
    )
    assert (tool in get_names(answer.message["result"]["tools"])) == allows(
        client, tool
    )


@both_protocols
@cells
def test_http_call_to_a_denied_tool_is_json_rpc_invalid_params_error(
    server: Server, client: str, tool: str, stateless: bool
) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    answer = server.request(
        path_for(client), "tools/call", call, token=token_for(client), modern=stateless
    ).message
    if allows(client, tool):
        assert answer["result"]["isError"] is True
        assert "nknown tool" not in str(answer)
    else:
        error = {"code": -32602, "message": f"Unknown tool: {tool}"}
        assert answer["error"] == error


@cells
def test_http_request_without_the_endpoint_clients_token_returns_401(
    server: Server, client: str, tool: str
) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    tokens = [None, ADMIN, *(token_for(other) for other in CLIENTS if other != client)]
    for token in tokens:
        for method, params in (("tools/list", {}), ("tools/call", call)):
            answer = server.request(path_for(client), method, params, token=token)
            assert answer.status == 401
            assert tool not in answer.body.decode()


@cells
def test_admin_list_mcp_tools_route_shows_each_client_only_its_allowed_tools(
    server: Server, client: str, tool: str
) -> None:
    headers = {"Authorization": f"Bearer {ADMIN}"}
    answer = server.send("/api/admin/list-mcp-tools", b"", headers, "GET")
    tools = json.loads(answer.body)["clients"][client]["tools"]
    assert (tool in get_names(tools)) == allows(client, tool)
