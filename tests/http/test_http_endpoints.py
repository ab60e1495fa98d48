"""Endpoints of a loopback server: tokens, hosts, origins, methods and log lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.http.serving import Server, rpc, run_server

TOKENS = {
    "KIRISHIMA_TOKEN_INTERNAL": "internal-3f1c",
    "KIRISHIMA_TOKEN_COPILOT": "copilot-90aa",
    "KIRISHIMA_TOKEN_EXTERNAL": "external-77b2",
    "KIRISHIMA_ADMIN_TOKEN": "admin-51de",
}
ENDPOINTS = {
    "internal": "/mcp/",
    "copilot": "/mcp/copilot/",
    "external": "/mcp/external/",
}
ADMIN = "/api/admin/list-mcp-tools"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with run_server("--log-format", "json", env=TOKENS) as running:
        yield running


def get_token(client: str) -> str:
    """Return the token of a client."""
    return TOKENS[f"KIRISHIMA_TOKEN_{client.upper()}"]


@pytest.mark.parametrize("client", ENDPOINTS)
def test_client_endpoint_bearer_token_is_refused_at_other_client_endpoints(
    server: Server, client: str
) -> None:
    path = ENDPOINTS[client]
    assert server.request(path, "tools/list", token=get_token(client)).status == 200
    for token in {*TOKENS.values()} - {get_token(client)}:
        answer = server.request(path, "tools/list", token=token)
        assert answer.status == 401
        challenge = answer.headers["www-authenticate"]
        assert challenge == f'Bearer realm="kirishima {client}", error="invalid_token"'
        message = answer.message["error"]["message"]
        assert message == "the token is not valid for this endpoint"
    no_token = server.send(path, b"{}")
    assert no_token.status == 401
    assert no_token.headers["www-authenticate"] == f'Bearer realm="kirishima {client}"'


def test_admin_tool_listing_for_all_clients_requires_the_admin_token(
    server: Server,
) -> None:
    for token in (None, *(get_token(client) for client in ENDPOINTS)):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        assert server.send(ADMIN, b"", headers, "GET").status == 401
    authorized = {"Authorization": f"Bearer {TOKENS['KIRISHIMA_ADMIN_TOKEN']}"}
    answer = server.send(ADMIN, b"", authorized, "GET")
    assert answer.status == 200
    listing = json.loads(answer.body)
    assert listing["server"] == "kirishima"
    names = {c: [t["name"] for t in e["tools"]] for c, e in listing["clients"].items()}
    assert names["copilot"] == ["get_personality", "github_issue"]
    assert names["external"] == ["memory"]
    assert listing["clients"]["copilot"]["path"] == "/mcp/copilot/"
    assert server.send(ADMIN, b"", authorized, "POST").status == 405


def test_health_endpoint_needs_no_token_and_accepts_any_host(server: Server) -> None:
    answer = server.send("/health", method="GET", headers={"Host": "10.0.0.7"})
    assert (answer.status, json.loads(answer.body)) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://localhost:5173"}, 200),
        ({"Host": "localhost.:1", "Origin": "http://localhost.:1"}, 200),
        ({"Host": "[::1]:8000", "Origin": "http://[::1]:8000"}, 200),
    ],
)
def test_http_request_with_foreign_host_or_origin_header_is_refused(
    server: Server, headers: dict[str, str], status: int
) -> None:
    body, usual = rpc("tools/list")
    headers = {**usual, "Authorization": f"Bearer {get_token('internal')}", **headers}
    assert server.send("/mcp/", body, headers).status == status


def test_mcp_endpoint_allows_only_post(server: Server) -> None:
    authorized = {"Authorization": f"Bearer {get_token('internal')}"}
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        answer = server.send("/mcp/", b"", authorized, method)
        assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_json_server_log_has_no_query_strings_or_terminal_escape_codes(
    server: Server,
) -> None:
    """Each line is an object."""
    before = len(server.lines)
    authorized = {"Authorization": f"Bearer {get_token('copilot')}"}
    server.send("/mcp/copilot/?secret=query-7c", b"{}", authorized)
    server.wait_for_log('"path": "/mcp/copilot/"', before)
    assert "query-7c" not in server.log
    records = [json.loads(line) for line in server.log.splitlines()]
    assert any("Uvicorn running" in record["message"] for record in records)
    for record in records:
        assert {"time", "level", "name", "message"} <= set(record)
        assert "color_message" not in record
        assert "\x1b" not in "".join(map(str, record.values()))


def test_tool_call_over_http_is_logged_once_without_an_access_log_line(
    server: Server,
) -> None:
    call = {"name": "get_personality", "arguments": {}}
    # Log lines of earlier requests are written before the line of this request.
    before = len(server.lines)
    authorized = {"Authorization": f"Bearer {get_token('external')}"}
    server.send("/mcp/external/", b"{}", authorized)
    server.wait_for_log('"path": "/mcp/external/"', before)
    before = len(server.lines)
    server.request("/mcp/", "tools/call", call, token=get_token("internal"))
    server.wait_for_log('"tool": "get_personality"', before)
    lines = [json.loads(line) for line in server.lines[before:]]
    # Lines about requests of other tests can still arrive: warnings, and lines of other paths.
    records = [
        line
        for line in lines
        if line["name"] == "toolcast.calls" or line.get("path") == "/mcp/"
    ]
    assert len(records) == 1, records
    fields = ("name", "request_id", "tool", "client", "user", "outcome")
    expected = ["toolcast.calls", "1", "get_personality", "internal", None, "ok"]
    assert [records[0][name] for name in fields] == expected


def test_http_server_startup_log_has_each_endpoint_url(server: Server) -> None:
    lines = [json.loads(line) for line in server.log.splitlines()]
    urls = {line["client"]: line["url"] for line in lines if "url" in line}
    base = f"http://127.0.0.1:{server.port}"
    assert urls == {client: base + path for client, path in ENDPOINTS.items()}
