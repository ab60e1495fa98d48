"""The endpoints of a server that listens on loopback: who gets in, with what."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.http.serving import RunningServer, run_server

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
def server() -> Iterator[RunningServer]:
    with run_server("--log-format", "json", env=TOKENS) as running:
        yield running


def token_of(client: str) -> str:
    return TOKENS[f"KIRISHIMA_TOKEN_{client.upper()}"]


@pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])
@pytest.mark.parametrize("slash", ["", "/"])
@pytest.mark.parametrize("client", ENDPOINTS)
def test_each_client_is_served_at_its_path(
    server: RunningServer, client: str, slash: str, modern: bool
) -> None:
    path = ENDPOINTS[client].rstrip("/") + slash
    answer = server.request(path, "tools/list", token=token_of(client), modern=modern)
    assert answer.status == 200, answer.body
    assert "memory" in str(answer.message) or client == "copilot"


@pytest.mark.parametrize("owner", [*ENDPOINTS, "admin"])
@pytest.mark.parametrize("client", ENDPOINTS)
def test_a_token_opens_its_own_endpoint_alone(
    server: RunningServer, client: str, owner: str
) -> None:
    token = TOKENS["KIRISHIMA_ADMIN_TOKEN"] if owner == "admin" else token_of(owner)
    answer = server.request(ENDPOINTS[client], "tools/list", token=token)
    assert answer.status == (200 if owner == client else 401)
    if owner != client:
        challenge = answer.headers["www-authenticate"]
        assert challenge == f'Bearer realm="kirishima {client}", error="invalid_token"'
        assert (
            answer.message["error"]["message"]
            == "the token is not valid for this endpoint"
        )


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer internal-3f1",
        "Bearer internal-3f1cc",
        "Bearer INTERNAL-3F1C",
        "Basic internal-3f1c",
        "internal-3f1c",
        "Bearer internal-3f1c, Bearer internal-3f1c",
    ],
)
def test_without_the_right_token_nobody_gets_in(
    server: RunningServer, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = server.send("/mcp/", b"{}", headers)
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Bearer realm=")


def test_the_scheme_s_case_does_not_matter(server: RunningServer) -> None:
    headers = {"Authorization": f"bEARER {token_of('internal')}"}
    assert server.send("/mcp/", b"{}", headers).status != 401


def test_administrators_see_who_has_which_tool(server: RunningServer) -> None:
    for token in (None, *(token_of(client) for client in ENDPOINTS)):
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        assert server.send(ADMIN, b"", headers, "GET").status == 401
    right = {"Authorization": f"Bearer {TOKENS['KIRISHIMA_ADMIN_TOKEN']}"}
    answer = server.send(ADMIN, b"", right, "GET")
    assert answer.status == 200
    shown = json.loads(answer.body)
    assert shown["server"] == "kirishima"
    names = {c: [t["name"] for t in e["tools"]] for c, e in shown["clients"].items()}
    assert names["copilot"] == ["get_personality", "github_issue"]
    assert names["external"] == ["memory"]
    assert shown["clients"]["copilot"]["path"] == "/mcp/copilot/"
    assert server.send(ADMIN, b"", right, "POST").status == 405


def test_health_is_for_everybody(server: RunningServer) -> None:
    answer = server.send("/health", method="GET", headers={"Host": "10.0.0.7"})
    assert (answer.status, json.loads(answer.body)) == (200, {"status": "ok"})


@pytest.mark.parametrize("path", ["/", "/mcp/nobody/", "/mcp/internal/", "/mcp//"])
def test_other_paths_are_not_there(server: RunningServer, path: str) -> None:
    assert server.request(path, "tools/list", token=token_of("internal")).status == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example:80"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "http://localhost@evil.example"}, 403),
        ({"Origin": "file://localhost"}, 403),
        ({"Origin": "http://localhost:5173"}, 200),
        ({"Host": "LocalHost:1"}, 200),
        ({"Host": "[::1]:8000", "Origin": "http://[::1]:8000"}, 200),
    ],
)
def test_pages_of_elsewhere_are_refused(
    server: RunningServer, headers: dict[str, str], status: int
) -> None:
    from tests.http.serving import rpc

    body, usual = rpc("tools/list")
    right = {"Authorization": f"Bearer {token_of('internal')}"}
    assert server.send("/mcp/", body, {**usual, **right, **headers}).status == status


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
def test_an_endpoint_takes_posts_alone(server: RunningServer, method: str) -> None:
    right = {"Authorization": f"Bearer {token_of('internal')}"}
    answer = server.send("/mcp/", b"", right, method)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_each_request_is_one_line_of_json(server: RunningServer) -> None:
    before = len(server.lines)
    let_in = {"Authorization": f"Bearer {token_of('copilot')}"}
    server.send("/mcp/copilot/?secret=query-7c", b"{}", let_in)
    server.wait_for_log('"path": "/mcp/copilot/"', before)
    assert "query-7c" not in server.log
    for line in server.log.splitlines():
        record: dict[str, Any] = json.loads(line)
        assert {"time", "level", "name", "message"} <= set(record)


def test_each_call_is_one_line_and_its_request_none(server: RunningServer) -> None:
    call = {"name": "get_personality", "arguments": {}}
    # What earlier requests have to say comes before the line of this one.
    before = len(server.lines)
    let_in = {"Authorization": f"Bearer {token_of('external')}"}
    server.send("/mcp/external/", b"{}", let_in)
    server.wait_for_log('"path": "/mcp/external/"', before)
    before = len(server.lines)
    server.request("/mcp/", "tools/call", call, token=token_of("internal"))
    server.wait_for_log('"tool": "get_personality"', before)
    lines = [json.loads(line) for line in server.lines[before:]]
    # Lines about requests of other tests, at other paths, can be late.
    records = [
        line
        for line in lines
        if line["name"].startswith("toolcast") and line.get("path") in (None, "/mcp/")
    ]
    assert len(records) == 1, records
    record = records[0]
    told = {name: record[name] for name in ("tool", "client", "user", "outcome")}
    assert told == {
        "tool": "get_personality",
        "client": "internal",
        "user": None,
        "outcome": "ok",
    }
    assert (record["name"], record["request_id"]) == ("toolcast.calls", "1")


def test_each_endpoint_is_named_with_its_address(server: RunningServer) -> None:
    lines = [json.loads(line) for line in server.log.splitlines()]
    urls = {line["client"]: line["url"] for line in lines if "url" in line}
    at = f"http://127.0.0.1:{server.port}"
    assert urls == {client: at + path for client, path in ENDPOINTS.items()}


def test_lines_for_machines_have_no_codes_for_terminals(server: RunningServer) -> None:
    lines = [json.loads(line) for line in server.log.splitlines()]
    assert any("Uvicorn running" in line["message"] for line in lines)
    for line in lines:
        assert "color_message" not in line
        assert "\x1b" not in "".join(map(str, line.values()))
