"""Server parts of other targets: admin routes, background tasks and call guards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from generated.kirishima.mcp_server import SERVER
from tests.http.serving import rpc
from toolcast_runtime.http import AdminAnswer, AdminRequest, AdminRoute
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.mcp import ServerPart

TOKEN = {"Authorization": "Bearer admin-token"}


class Part:
    """A server part that records its calls."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.admin_routes = (AdminRoute("POST", "/api/admin/noted", self._answer),)
        self.background_tasks = (self._start,)

    async def _answer(self, request: AdminRequest) -> AdminAnswer:
        if request.body == "fail":
            raise RuntimeError("hunter2-hunter2")
        return AdminAnswer({"noted": request.body}, 202)

    async def _start(self) -> None:
        self.events.append("started")
        try:
            await asyncio.Event().wait()
        finally:
            self.events.append("ended")

    def guard(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        self.events.append((tool_name, headers.get("x-who")))
        return "not now" if "x-who" in headers else None


@pytest.fixture
def part() -> Part:
    return Part()


def make_client(part: Part) -> TestClient:
    """Return a client of a server with this part and an admin token."""
    added: ServerPart = part
    server = replace(SERVER, parts=(added,), external=False)
    assert server.http is not None
    tokens = {server.http.admin_variable: "admin-token"}
    app = build_http_app(
        server, ListenSettings.from_environment(server.http, "127.0.0.1", tokens)
    )
    return TestClient(app, base_url="http://localhost")


@pytest.fixture
def client(part: Part) -> Iterator[TestClient]:
    with make_client(part) as client:
        yield client


def test_custom_admin_route_requires_the_admin_token(client: TestClient) -> None:
    assert client.post("/api/admin/noted", json=1).status_code == 401
    answer = client.post("/api/admin/noted", json=[1], headers=TOKEN)
    assert (answer.status_code, answer.json()) == (202, {"noted": [1]})
    assert answer.headers["cache-control"] == "no-store"
    assert client.post("/api/admin/noted", headers=TOKEN).json() == {"noted": None}
    assert client.get("/api/admin/noted", headers=TOKEN).status_code == 405


def test_exception_in_custom_admin_route_is_logged_and_not_sent_to_client(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    """An invalid JSON body is answered with 400."""
    answer = client.post("/api/admin/noted", content="{", headers=TOKEN)
    assert answer.status_code == 400
    assert answer.json() == {"error": "the body is not JSON"}
    answer = client.post("/api/admin/noted", json="fail", headers=TOKEN)
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
    assert "hunter2" in caplog.text


def test_call_guard_receives_tool_name_and_headers_and_can_refuse_the_call(
    client: TestClient, part: Part
) -> None:
    params = {"name": "get_personality", "arguments": {}}
    for extra, is_refused in (({}, False), ({"X-Who": "me"}, True)):
        body, headers = rpc("tools/call", params)
        answer = client.post("/mcp/", content=body, headers={**headers, **extra})
        assert answer.status_code == 200
        assert ("not now" in answer.text) == is_refused
    assert part.events[-2:] == [("get_personality", None), ("get_personality", "me")]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/mcp", 200), ("/mcp/", 200), ("/", 404), ("/mcp//", 404), ("/mcp/unknown", 404)],
)
def test_endpoint_path_may_end_with_slash(client: Any, path: str, status: int) -> None:
    body, headers = rpc("tools/list")
    assert client.post(path, content=body, headers=headers).status_code == status


def test_background_task_starts_and_stops_with_the_http_server(part: Part) -> None:
    with make_client(part) as client:
        assert client.get("/health").json() == {"status": "ok"}
        assert part.events == ["started"]
    assert part.events == ["started", "ended"]
