"""Invalid requests to every endpoint: their errors, and a log without request content."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.http.serving import Response, Server, rpc, run_server

TOKENS = {
    "KIRISHIMA_TOKEN_INTERNAL": "internal-token-1c",
    "KIRISHIMA_TOKEN_COPILOT": "copilot-token-2d",
    "KIRISHIMA_TOKEN_EXTERNAL": "external-token-3e",
    "KIRISHIMA_ADMIN_TOKEN": "admin-token-4f",
}
PATHS = {
    "/mcp/": "internal-token-1c",
    "/mcp/copilot/": "copilot-token-2d",
    "/mcp/external/": "external-token-3e",
}
# The log must not contain anything that callers send.
MARK = "m4rk3r"
SECRETS = [MARK, *TOKENS.values()]

each_path = pytest.mark.parametrize("path", PATHS)
eras = pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with run_server("--log-format", "json", "--local-tools", env=TOKENS) as running:
        yield running
        # The log is checked once, after the last test of this module.
        running.stop()
        for line in running.log.splitlines():
            record = json.loads(line)
            # uvicorn reports invalid HTTP with a fixed text and not with the request.
            is_known = record["message"].startswith(
                (
                    "Invalid HTTP request",
                    "Unsupported upgrade",
                    "No supported WebSocket",
                )
            )
            assert record["level"] == "INFO" or is_known, record
            assert "exc_info" not in record, record
            assert not any(mark in line for mark in SECRETS), record


def send_body(
    server: Server, path: str, body: bytes, *, modern: bool = False
) -> Response:
    """Send a body with the headers and the token of a valid request."""
    _, headers = rpc("tools/list", modern=modern)
    headers["Authorization"] = f"Bearer {PATHS[path]}"
    return server.send(path, body, headers)


def test_tool_call_has_access_log_line_only_for_error_status(server: Server) -> None:
    """Each call has a log line of its own; a request with status 200 adds none."""
    call = {"name": "unknown_tool", "arguments": {}}
    token, start = PATHS["/mcp/"], len(server.lines)
    for modern, status in ((False, 200), (True, 400)):
        before = len(server.lines)
        answer = server.request("/mcp/", "tools/call", call, token=token, modern=modern)
        assert answer.status == status
        server.wait_for_log("outcome=refused", before)
    server.wait_for_log("POST /mcp/ 400 in", before)
    assert b"POST /mcp/ 200 in" not in b"".join(server.lines[start:])


@each_path
def test_request_with_wrong_bearer_token_gets_401(server: Server, path: str) -> None:
    answer = server.request(path, "tools/list", {"note": MARK}, token=f"{MARK}-token")
    assert answer.status == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("is_declared", [True, False])
def test_body_over_four_mebibytes_gets_413(server: Server, is_declared: bool) -> None:
    """The limit applies to a declared length and to chunks."""
    size = 4 * 1024 * 1024 + 1
    headers = {"Authorization": f"Bearer {PATHS['/mcp/']}"}
    if is_declared:
        body: Any = MARK.encode().ljust(size)
    else:
        body = iter([MARK.encode().ljust(size // 2), b" " * size])
        headers["Transfer-Encoding"] = "chunked"
    try:
        answer = server.send("/mcp/", body, headers)
    except (BrokenPipeError, ConnectionResetError):
        return  # The server closed the connection before the body was sent.
    assert answer.status == 413
    message = answer.message["error"]["message"]
    assert message == "the body is larger than 4194304 bytes"


@eras
@pytest.mark.parametrize(
    "body", [b"", b"m4rk3r", b'{"id": 1, "method": "m4rk3r"', b'\xff\xfe{"m4rk3r": 1}']
)
def test_request_body_with_invalid_json_is_a_json_rpc_parse_error(
    server: Server, modern: bool, body: bytes
) -> None:
    answer = send_body(server, "/mcp/", body, modern=modern)
    assert (answer.status, answer.message["error"]["code"]) == (400, -32700)


@each_path
@eras
@pytest.mark.parametrize(
    "message",
    [
        [],
        [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}],
        "m4rk3r",
        {"id": 1, "method": "tools/list"},
        {"jsonrpc": "1.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": {"m4rk3r": 1}, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 1, "method": 7},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": "m4rk3r"},
    ],
    ids=str,
)
def test_invalid_json_rpc_message_is_answered_with_400_and_an_error_code(
    server: Server, path: str, modern: bool, message: Any
) -> None:
    answer = send_body(server, path, json.dumps(message).encode(), modern=modern)
    assert answer.status == 400, answer.body
    assert answer.message["error"]["code"] in (-32600, -32602)


@eras
@pytest.mark.parametrize("levels", [201, 100_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_request_body_nested_deeper_than_200_levels_gets_400(
    server: Server, modern: bool, levels: int, opening: bytes
) -> None:
    head = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
    closing = b"]" if opening == b"[" else b"}"
    for body in (
        opening * levels,
        head + opening * levels + b'"m4rk3r"' + closing * levels + b"}",
        # Brackets that were closed earlier do not count.
        b"[" + b"[]," * 300 + opening * levels + b"1" + closing * levels + b"]",
    ):
        answer = send_body(server, "/mcp/", body, modern=modern)
        assert answer.status == 400
        message = answer.message["error"]["message"]
        assert message == "the body has more than 200 levels of nesting"


def test_brackets_in_json_strings_do_not_count_as_body_nesting(server: Server) -> None:
    call = {"name": "get_personality", "arguments": {"x": '[{"\\' * 10_000}}
    answer = server.request("/mcp/", "tools/call", call, token=PATHS["/mcp/"])
    assert answer.status == 200
    assert "`x` is not a parameter" in str(answer.message)


@each_path
@eras
@pytest.mark.parametrize("name", ["m4rk3r", "", "memory\u0000", "x" * 10_000])
def test_unknown_tool_call_is_an_error_with_the_tool_name(
    server: Server, path: str, modern: bool, name: str
) -> None:
    body, headers = rpc("tools/call", {"name": name, "arguments": {}}, modern=modern)
    if not name.isprintable() or len(name) > 1000:
        headers.pop("Mcp-Name", None)
    headers["Authorization"] = f"Bearer {PATHS[path]}"
    answer = server.send(path, body, headers)
    error = answer.message["error"]
    if modern and "Mcp-Name" not in headers:
        # The stateless version requires the header to match the body.
        assert error["code"] == -32020
    else:
        assert error == {"code": -32602, "message": f"Unknown tool: {name}"}


@eras
@pytest.mark.parametrize("method", ["tools/m4rk3r", "prompts/list", "initialized"])
def test_unknown_json_rpc_method_has_error_code_minus_32601(
    server: Server, modern: bool, method: str
) -> None:
    answer = server.request("/mcp/", method, token=PATHS["/mcp/"], modern=modern)
    assert answer.message["error"]["code"] == -32601


@eras
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "`action` is required"),
        ({"action": "m4rk3r"}, "`action` must be one of"),
        ({"action": "list", "limit": "m4rk3r"}, "`limit` must be an integer"),
        ({"action": "list", "m4rk3r": 1}, "`m4rk3r` is not a parameter"),
        ({"action": "get"}, "is required for action `get`"),
    ],
)
def test_invalid_tool_arguments_are_reported_in_a_result_with_is_error(
    server: Server, modern: bool, arguments: Any, problem: str
) -> None:
    """The model can read a result and correct the call."""
    call = {"name": "memory", "arguments": arguments}
    for path in ("/mcp/", "/mcp/external/"):
        answer = server.request(
            path, "tools/call", call, token=PATHS[path], modern=modern
        ).message
        assert answer["result"]["isError"] is True
        assert problem in answer["result"]["content"][0]["text"]


@eras
@pytest.mark.parametrize("arguments", ["m4rk3r", [1]])
def test_tool_arguments_that_are_not_an_object_are_an_invalid_params_error(
    server: Server, modern: bool, arguments: Any
) -> None:
    call = {"name": "memory", "arguments": arguments}
    token = PATHS["/mcp/"]
    answer = server.request("/mcp/", "tools/call", call, token=token, modern=modern)
    assert answer.message["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Type": "text/plain"}, (400, 415)),
        ({"Accept": "text/html"}, (406,)),
        ({"MCP-Protocol-Version": "m4rk3r"}, (400,)),
        ({"MCP-Protocol-Version": "2099-01-01"}, (400,)),
    ],
)
def test_unsupported_content_type_accept_or_protocol_version_is_rejected(
    server: Server, headers: dict[str, str], status: tuple[int, ...]
) -> None:
    body, usual = rpc("tools/list")
    right = {"Authorization": f"Bearer {PATHS['/mcp/']}"}
    answer = server.send("/mcp/", body, {**usual, **right, **headers})
    assert answer.status in status


@pytest.mark.parametrize("second", ["http://evil.example", "http://localhost"])
def test_request_with_two_origin_headers_gets_403(server: Server, second: str) -> None:
    body, headers = rpc("tools/list")
    headers["Authorization"] = f"Bearer {PATHS['/mcp/']}"
    # Header names ignore case, so two spellings of a dict key send the header twice.
    headers |= {"Origin": "http://localhost", "origin": second}
    assert server.send("/mcp/", body, headers).status == 403


def test_websocket_upgrade_without_token_is_answered_with_401(server: Server) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    answer = server.send(f"/mcp/?token={MARK}", b"", upgrade, method="GET")
    assert answer.status == 401


def test_admin_endpoint_rejects_wrong_tokens_and_invalid_bodies(server: Server) -> None:
    path = "/api/admin/list-mcp-tools"
    wrong = {"Authorization": f"Bearer {MARK}"}
    assert server.send(path, b"", wrong, "GET").status == 401
    right = {"Authorization": f"Bearer {TOKENS['KIRISHIMA_ADMIN_TOKEN']}"}
    answer = server.send(path, b"{m4rk3r", right, "GET")
    assert answer.status == 400
    assert json.loads(answer.body) == {"error": "the body is not JSON"}
    assert server.send(path, b"[" * 10_000, right, "GET").status == 400
    assert server.send(path, b" " * 5_000_000, right, "GET").status == 413


def test_http_server_still_lists_tools_after_invalid_requests(server: Server) -> None:
    answer = server.request("/mcp/", "tools/list", token=PATHS["/mcp/"])
    assert answer.status == 200
