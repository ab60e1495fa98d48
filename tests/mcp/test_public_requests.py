"""Requests of real clients, from public reports in minimal form, and their responses."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.http.serving import Response, Server, rpc, run_server

ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}
BOTH = "application/json, text/event-stream"


@pytest.fixture(scope="module")
def server(faulty_project: Path) -> Iterator[Server]:
    with run_server(package="generated.faulty", root=faulty_project) as running:
        yield running


def send(
    server: Server,
    params: Mapping[str, Any],
    headers: Mapping[str, str],
    *,
    method: str = "tools/call",
    modern: bool = False,
) -> Response:
    """Send a request with changed headers."""
    body, default_headers = rpc(method, params, modern=modern)
    return server.send("/mcp/", body, {**default_headers, **headers})


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        (BOTH, 200),
        ("text/event-stream, application/json", 200),
        ("APPLICATION/JSON, TEXT/EVENT-STREAM", 200),
        ("application/json;q=0.9, text/event-stream;q=0.8", 200),
        ("application/*, text/event-stream", 200),
        ("*/*", 200),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("text/html", 406),
        ("", 406),
    ],
)
def test_mcp_session_request_accept_header_must_allow_json_and_event_stream(
    server: Server, accept: str, status: int
) -> None:
    assert send(server, ADD, {"Accept": accept}).status == status


def _encode(name: str) -> str:
    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("add", 200),
        (_encode("add"), 200),
        (" add ", 200),
        (_encode("other"), 400),
        ("other", 400),
        ("ADD", 400),
        ("=?BASE64?YWRk?=", 400),
        ("=?base64?%%?=", 400),
        ("", 400),
    ],
)
def test_mcp_name_header_may_be_base64_encoded_and_must_match_the_tool_name_in_the_body(
    server: Server, name: str, status: int
) -> None:
    response = send(server, ADD, {"Mcp-Name": name}, modern=True)
    assert response.status == status
    if status == 400:
        assert response.message["error"]["code"] == -32020


@pytest.mark.parametrize("modern", [False, True])
def test_call_arguments_must_be_an_object_or_null(server: Server, modern: bool) -> None:
    for arguments in (None, [], "", "{}", 0, '{"a": 1}'):
        params = {"name": "loose", "arguments": arguments}
        answer = str(send(server, params, {}, modern=modern).message)
        if arguments is None:
            assert "'isError': False" in answer
        else:
            assert "Invalid request parameters" in answer


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"meta": '{"n": 1}'}, "`meta` must be an object"),
        ({"meta": None}, "`meta` must be an object"),
        ({"meta": {}, "tags": '["a"]'}, "`tags` must be an array"),
        ({"meta": {}, "tags": ""}, "`tags` must be an array"),
        ({"meta": {"n": "1"}}, "`meta.n` must be an integer"),
    ],
)
def test_json_text_as_argument_is_not_accepted_as_an_object_or_array(
    server: Server, arguments: Any, problem: str, modern: bool
) -> None:
    params = {"name": "order", "arguments": arguments}
    answer = send(server, params, {}, modern=modern).message
    assert answer["result"]["isError"] and problem in str(answer)


@pytest.mark.parametrize("method", ["server/discover", "tools/list"])
def test_mcp_results_have_result_type_and_cache_hints_only_in_the_stateless_version(
    server: Server, method: str
) -> None:
    """They are required since 2026-07-28; clients of 2025-11-25 get none."""
    result = send(server, {}, {}, method=method, modern=True).message["result"]
    assert result["resultType"] == "complete"
    assert (result["ttlMs"], result["cacheScope"]) == (0, "private")
    if method == "tools/list":
        result = send(server, {}, {}, method=method).message["result"]
        assert not result.keys() & {"resultType", "ttlMs", "cacheScope"}


@pytest.mark.parametrize(
    "method", ["initialized", "cancelled", "roots/list_changed", "unknown"]
)
def test_mcp_notification_over_http_gets_status_202_without_a_body(
    server: Server, method: str
) -> None:
    params = {"requestId": 1} if method == "cancelled" else {}
    message = {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
    _, headers = rpc(f"notifications/{method}", params)
    response = server.send("/mcp/", json.dumps(message).encode(), headers)
    assert (response.status, response.body) == (202, b"")


def test_mcp_stdio_server_reads_and_writes_utf_8_with_any_locale_or_python_encoding(
    faulty_project: Path,
) -> None:
    text = "Messger\u00e4t \u65e5\u672c\u8a9e \U0001f642 \u2028 \u017c\u00f3\u0142"
    version = {"protocolVersion": "2025-11-25", "capabilities": {}}
    hello = {**version, "clientInfo": {"name": "a", "version": "1"}}
    call = {"name": "refuse", "arguments": {"reason": text}}
    lines = []
    for number, (method, params) in enumerate(
        [("initialize", hello), ("tools/call", call)]
    ):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        lines.append(json.dumps(message, ensure_ascii=False).encode())
    variables = {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "generated.faulty.mcp_server"],
        cwd=faulty_project,
        env={**os.environ, **variables, "PYTHONCOERCECLOCALE": "0"},
        input=b"\r\n".join([*lines, b""]),
        capture_output=True,
        check=True,
        timeout=120,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    assert text in messages[-1]["result"]["content"][0]["text"]


def test_progress_token_may_be_any_string_or_integer(server: Server) -> None:
    for token in (0, 7, "", "tok", None, 1.5, [], {}):
        params = {"name": "report", "arguments": {}, "_meta": {"progressToken": token}}
        response = send(server, params, {})
        if isinstance(token, int | str):
            body = response.body.decode()
            assert f'"progressToken":{json.dumps(token)}' in body and '"result"' in body
        else:
            assert response.message["error"]["code"] == -32602
