"""Errors for a LETTA_BASE_URL that leads to another server: one line, no traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest

from letta.tests.target.test_letta_endpoint import (
    make_deployed_toy,
    port,
    run_toy,
    sync,
)
from letta.tests.test_letta_command import run
from tests.thread_server import serve_in_threads

__all__ = ["port", "run"]

HEALTH = "/v1/health/"
ANSWERS: dict[str, dict[str, Any]] = {
    "a page": {"": "<html><title>Sign in</title></html>"},
    "another JSON": {"": {"hello": "world"}},
    "a list": {"": []},
    "null": {"": None},
    "a page that says it is JSON": {"": b"<html></html>"},
    "JSON without end": {"": b"[" * 100_000},
    "a page behind a health": {HEALTH: {"version": "0.16.6"}, "": "<html></html>"},
    "another health": {HEALTH: {"status": "ok"}, "": 7},
    "a count that is none": {HEALTH: {"version": "0.16.6"}, "": {"count": 7}},
    "tools without names": {
        HEALTH: {"version": "0.16.6"},
        "/v1/tools/count": 1,
        "": [{"id": "x"}],
    },
    "lists of numbers": {
        HEALTH: {"version": "0.16.6"},
        "/v1/tools/count": 1,
        "": [1, 2],
    },
    "an agent without tools": {
        HEALTH: {"version": "0.16.6"},
        "/v1/tools/count": 1,
        "/v1/mcp-servers/": [],
        "/v1/tools/": [],
        "/v1/tools/mcp/servers/test": {"tools": []},
        "": {"id": "a", "name": "b", "agent_type": "c"},
    },
    "rules that are none": {
        HEALTH: {"version": "0.16.6"},
        "/v1/tools/count": 1,
        "/v1/mcp-servers/": [],
        "/v1/tools/": [],
        "/v1/tools/mcp/servers/test": {"tools": []},
        "": {"id": "a", "name": "b", "agent_type": "c", "tools": [], "tool_rules": [1]},
    },
    "entries that are odd": {
        HEALTH: {"version": "0.16.6"},
        "/v1/tools/count": 1,
        "/v1/mcp-servers/": [{"id": "x", "server_name": "toy", "custom_headers": 5}],
        "": [],
    },
}


@contextmanager
def run_http_server(answers: dict[str, Any]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            answer = answers[path] if path in answers else answers[""]
            is_page = isinstance(answer, str)
            text = answer if is_page else json.dumps(answer, default=bytes.decode)
            data = answer if isinstance(answer, bytes) else text.encode()
            self.send_response(200)
            kind = "text/html" if is_page else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.do_GET()

    with serve_in_threads(Handler) as url:
        yield url


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("verb", ["plan", "verify"])
def test_letta_plan_and_verify_report_a_server_other_than_letta_in_a_single_line(
    run: Any, name: str, verb: str
) -> None:
    with run_http_server(ANSWERS[name]) as url:
        result = run(verb, "--base-url", url)
    assert result.exit_code == 1, result.output
    [line] = result.output.splitlines()
    assert line.startswith("error: ")
    assert (
        "is not a Letta server" in line
        or "returned an unexpected response" in line
        or ("the response for agent" in line)
    )


def test_letta_plan_command_reports_a_wrong_letta_port(run: Any, port: int) -> None:
    result = run("plan", "--base-url", f"http://127.0.0.1:{port}")
    assert result.exit_code == 1
    [line] = result.output.splitlines()
    assert "no response from http://127.0.0.1" in line


@pytest.mark.parametrize("end", ["/v1", "/v1/", "/letta/v1"])
def test_letta_plan_command_reports_a_letta_base_url_that_ends_with_v1(
    run: Any, end: str
) -> None:
    result = run("plan", "--base-url", f"http://127.0.0.1:9{end}")
    assert result.exit_code == 2
    assert (
        "the URL of Letta ends with /v1, which each request adds: remove it from"
        in (result.output)
    )


def test_letta_plan_command_reports_a_missing_letta_api_key(
    run: Any, toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LETTA_API_KEY")
    result = run("plan")
    assert result.exit_code == 1
    assert result.output.endswith("LETTA_API_KEY is not set (HTTP 401)\n")


def test_letta_plan_command_reports_a_token_that_the_mcp_server_refuses(
    run: Any, toy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy.mcp.token = "another-token-of-the-server"
    result = run("plan")
    assert result.exit_code == 1
    assert "the server is not reachable or refuses the token" in result.output


@pytest.mark.parametrize("name", ["a page", "another JSON", "rules that are none"])
def test_letta_sync_route_answers_502_for_a_server_other_than_letta(
    make_toy: Any, port: int, name: str
) -> None:
    """Handle `POST /api/admin/sync-mcp-tools`, a route of generated MCP servers."""
    toy, environment = make_deployed_toy(make_toy, port)
    with run_http_server(ANSWERS[name]) as url:
        environment["LETTA_BASE_URL"] = url
        with run_toy(toy, port, **environment) as server:
            answer = sync(server)
    assert answer.status_code == 502
    assert url in answer.json()["error"] or "the response for agent" in (
        answer.json()["error"]
    )


def test_letta_sync_route_answers_503_for_an_unusable_state_folder(
    make_toy: Any, port: int, tmp_path: Any
) -> None:
    toy, environment = make_deployed_toy(make_toy, port)
    (tmp_path / "file").write_text("")
    environment["TOOLCAST_LETTA_STATE"] = str(tmp_path / "file" / "state")
    with run_toy(toy, port, **environment) as server:
        answer: httpx.Response = sync(server)
    assert answer.status_code == 503
    assert "cannot be used" in answer.json()["error"]
