"""Access to each tool by each client over HTTP, against one table."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.access.matrix import CLIENTS, cells, get_names, is_allowed
from tests.http.serving import Served, served

TOKENS = {f"KIRISHIMA_TOKEN_{c.upper()}": f"{c}-token-a81" for c in CLIENTS}
ADMIN = "admin-token-c7f"
both_protocols = pytest.mark.parametrize(
    "is_stateless", [False, True], ids=["legacy", "modern"]
)


pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("personal_server_url")]


@pytest.fixture(scope="module")
def server(personal_server_url: str) -> Iterator[Served]:
    environment = {**TOKENS, "KIRISHIMA_ADMIN_TOKEN": ADMIN}
    with served(
        env={**environment, "KIRISHIMA_PERSONAL_MCP_URL": personal_server_url}
    ) as running:
        yield running


def get_token(client: str) -> str:
    return TOKENS[f"KIRISHIMA_TOKEN_{client.upper()}"]


def get_path(client: str) -> str:
    return "/mcp/" if client == "internal" else f"/mcp/{client}/"


@pytest.mark.rows(4)
@both_protocols
@cells
def test_list_contains_only_allowed_tools(
    server: Served, client: str, tool: str, is_stateless: bool
) -> None:
    answer = server.ask(
        get_path(client), "tools/list", token=get_token(client), modern=is_stateless
    )
    assert (tool in get_names(answer.message["result"]["tools"])) == is_allowed(
        client, tool
    )


@both_protocols
@cells
def test_call_to_a_denied_tool_is_invalid_params_error(
    server: Served, client: str, tool: str, is_stateless: bool
) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    answer = server.ask(
        get_path(client),
        "tools/call",
        call,
        token=get_token(client),
        modern=is_stateless,
    ).message
    if is_allowed(client, tool):
        assert answer["result"]["isError"] is True
        assert "nknown tool" not in str(answer)
    else:
        error = {"code": -32602, "message": f"Unknown tool: {tool}"}
        assert answer["error"] == error


@cells
def test_request_without_the_client_token_is_unauthorized(
    server: Served, client: str, tool: str
) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    other_tokens = [
        None,
        ADMIN,
        *(get_token(other) for other in CLIENTS if other != client),
    ]
    for wrong_token in other_tokens:
        for method, params in (("tools/list", {}), ("tools/call", call)):
            answer = server.ask(get_path(client), method, params, token=wrong_token)
            assert answer.status == 401
            assert tool not in answer.body.decode()


@cells
def test_admin_list_contains_only_tools_allowed_to_the_client(
    server: Served, client: str, tool: str
) -> None:
    headers = {"Authorization": f"Bearer {ADMIN}"}
    answer = server.send("/api/admin/list-mcp-tools", b"", headers, "GET")
    tools = json.loads(answer.body)["clients"][client]["tools"]
    assert (tool in get_names(tools)) == is_allowed(client, tool)
