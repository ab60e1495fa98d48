"""What another target adds to a server: paths for administrators, work at the start, a guard."""

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
    """A part that notes what it is asked."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.admin_routes = (AdminRoute("POST", "/api/admin/noted", self._answer),)
        self.background_tasks = (self._start,)

    async def _answer(self, request: AdminRequest) -> AdminAnswer:
        if request.body == "fail":
            raise RuntimeError("hunter2-hunter2")
        return AdminAnswer({"noted": request.body}, 202)

    async def _start(self) -> None:
        self.seen.append("started")
        try:
            await asyncio.Event().wait()
        finally:
            self.seen.append("ended")

    def guard(self, tool_name: str, headers: Mapping[str, str]) -> str | None:
        self.seen.append((tool_name, headers.get("x-who")))
        return "not now" if "x-who" in headers else None


@pytest.fixture
def part() -> Part:
    return Part()


def opened(part: Part) -> TestClient:
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
    with opened(part) as client:
        yield client


def test_an_administrators_path_needs_the_token(client: TestClient) -> None:
    assert client.post("/api/admin/noted", json=1).status_code == 401
    answer = client.post("/api/admin/noted", json=[1], headers=TOKEN)
    assert (answer.status_code, answer.json()) == (202, {"noted": [1]})
    assert answer.headers["cache-control"] == "no-store"
    assert client.post("/api/admin/noted", headers=TOKEN).json() == {"noted": None}
    assert client.get("/api/admin/noted", headers=TOKEN).status_code == 405


def test_what_goes_wrong_there_stays_in_the_log(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.post("/api/admin/noted", content="{", headers=TOKEN)
    assert (answer.status_code, answer.json()) == (
        400,
        {"error": "the body is not JSON"},
    )
    answer = client.post("/api/admin/noted", json="fail", headers=TOKEN)
    assert answer.status_code == 500
    assert "hunter2" not in answer.text
    assert "hunter2" in caplog.text


def test_a_guard_sees_each_call_and_may_refuse_it(
    client: TestClient, part: Part
) -> None:
    given = {"name": "get_personality", "arguments": {}}
    for who, is_refused in (({}, False), ({"X-Who": "me"}, True)):
        body, headers = rpc("tools/call", given)
        usual = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        answer = client.post("/mcp/", content=body, headers={**usual, **headers, **who})
        assert answer.status_code == 200
        assert ("not now" in answer.text) == is_refused
    assert part.seen[-2:] == [("get_personality", None), ("get_personality", "me")]


@pytest.mark.parametrize(
    ("path", "status"),
    [("/mcp", 200), ("/mcp/", 200), ("/", 404), ("/mcp//", 404), ("/mcp/mcp", 404)],
)
def test_an_endpoint_is_at_its_path_with_and_without_a_slash(
    client: TestClient, path: str, status: int
) -> None:
    body, headers = rpc("tools/list")
    usual = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    answer = client.post(path, content=body, headers={**usual, **headers})
    assert answer.status_code == status


def test_what_starts_with_the_server_ends_with_it(part: Part) -> None:
    with opened(part) as client:
        assert client.get("/health").json() == {"status": "ok"}
        assert part.seen == ["started"]
    assert part.seen == ["started", "ended"]
