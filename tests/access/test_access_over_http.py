"""Every path to a tool over HTTP, for every client, against one table."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.access.matrix import (
    CLIENTS,
    cells,
    listed,
    may,
)
from tests.http.serving import Served, served

TOKENS = {f"KIRISHIMA_TOKEN_{c.upper()}": f"{c}-token-a81" for c in CLIENTS}
ADMIN = "admin-token-c7f"
eras = pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])


pytestmark = [pytest.mark.timeout(180), pytest.mark.usefixtures("personal")]


@pytest.fixture(scope="module")
def server(personal: str) -> Iterator[Served]:
    environment = {**TOKENS, "KIRISHIMA_ADMIN_TOKEN": ADMIN}
    with served(env={**environment, "KIRISHIMA_PERSONAL_MCP_URL": personal}) as running:
        yield running


def token(client: str) -> str:
    return TOKENS[f"KIRISHIMA_TOKEN_{client.upper()}"]


def path(client: str) -> str:
    return "/mcp/" if client == "internal" else f"/mcp/{client}/"


@pytest.mark.rows(4)
@eras
@cells
def test_http_list(server: Served, client: str, tool: str, modern: bool) -> None:
    answer = server.ask(path(client), "tools/list", token=token(client), modern=modern)
    assert (tool in listed(answer.message["result"]["tools"])) == may(client, tool)


@eras
@cells
def test_http_call(server: Served, client: str, tool: str, modern: bool) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    answer = server.ask(
        path(client), "tools/call", call, token=token(client), modern=modern
    ).message
    if may(client, tool):
        assert answer["result"]["isError"] is True
        assert "nknown tool" not in str(answer)
    else:
        error = {"code": -32602, "message": f"Unknown tool: {tool}"}
        assert answer["error"] == error


@cells
def test_http_without_the_token_of_the_client(
    server: Served, client: str, tool: str
) -> None:
    call = {"name": tool, "arguments": {"action": "nonsense"}}
    others = [None, ADMIN, *(token(other) for other in CLIENTS if other != client)]
    for given in others:
        for method, params in (("tools/list", {}), ("tools/call", call)):
            answer = server.ask(path(client), method, params, token=given)
            assert answer.status == 401
            assert tool not in answer.body.decode()


@cells
def test_http_list_for_administrators(server: Served, client: str, tool: str) -> None:
    right = {"Authorization": f"Bearer {ADMIN}"}
    answer = server.send("/api/admin/list-mcp-tools", b"", right, "GET")
    shown = json.loads(answer.body)["clients"][client]["tools"]
    assert (tool in listed(shown)) == may(client, tool)
