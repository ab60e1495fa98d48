"""`app` of a generated module: under an ASGI server and mounted in another application."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from generated.molecule.mcp_server import app
from tests.http.serving import ROOT, Server, rpc

MODULE = "generated.molecule.mcp_server"
CLIENTS = [
    (endpoint.path, endpoint.token_variable)
    for endpoint in app._server.http.endpoints  # type: ignore[union-attr]
]
ENVIRONMENT = {
    **{variable: f"{variable.lower()}-secret" for _, variable in CLIENTS},
    "MOLECULE_ALLOWED_HOSTS": "tools.example.org",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the tokens and allowed hosts that the application requires."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


async def list_tools(
    client: httpx.AsyncClient, path: str, variable: str, host: str = "tools.example.org"
) -> httpx.Response:
    body, headers = rpc("tools/list")
    headers |= {"Authorization": f"Bearer {ENVIRONMENT[variable]}", "Host": host}
    return await client.post(path, content=body, headers=headers)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("prefix", ["/platform", ""])
def test_mounted_asgi_app_checks_host_header_and_bearer_token(prefix: str) -> None:
    outer = Starlette(routes=[Mount(prefix or "/", app)], lifespan=app.lifespan)
    path, variable = CLIENTS[0]

    async def send_requests() -> list[httpx.Response]:
        transport = httpx.ASGITransport(outer)
        async with (
            outer.router.lifespan_context(outer),
            httpx.AsyncClient(transport=transport, base_url="http://x") as client,
        ):
            return [
                await list_tools(client, prefix + path, variable),
                await list_tools(client, prefix + path, variable, "evil.example.org"),
                await client.post(prefix + path, headers={"Host": "tools.example.org"}),
                await client.get(f"{prefix}/health"),
                await client.get(f"{prefix}/elsewhere"),
            ]

    answers = asyncio.run(send_requests())
    assert [answer.status_code for answer in answers] == [200, 421, 401, 200, 404]
    assert '"tools"' in answers[0].text


@pytest.mark.usefixtures("environment")
def test_mcp_app_asgi_lifespan_can_run_again_in_new_event_loops() -> None:
    """Adapters for serverless platforms run one lifespan and loop for each request."""
    path, variable = CLIENTS[0]

    async def send_request() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with (
            app.lifespan(app),
            httpx.AsyncClient(transport=transport, base_url="http://x") as client,
        ):
            return await list_tools(client, path, variable)

    answers = [asyncio.run(send_request()) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3


def test_mcp_app_mounted_without_its_lifespan_answers_503_with_help() -> None:
    outer = Starlette(routes=[Mount("/platform", app)])

    client = TestClient(outer)
    for path in ("/platform/health", "/platform/ready"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert "lifespan=app.lifespan" in answer.json()["help"]


def test_importing_generated_mcp_server_does_not_import_mcp_sdk_or_uvicorn() -> None:
    code = f"import sys, {MODULE}; print(*sorted(sys.modules))"
    command = [sys.executable, "-c", code]
    loaded = subprocess.check_output(command, cwd=ROOT, text=True).split()
    assert not {"mcp", "starlette", "uvicorn", "toolcast_runtime.http.app"} & {*loaded}


@pytest.mark.slow
def test_generated_asgi_app_checks_tokens_and_stops_under_uvicorn() -> None:
    command = [sys.executable, "-m", "uvicorn", f"{MODULE}:app", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **ENVIRONMENT}, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        port = 0
        for line in process.stderr:
            match = re.search(rb"running on http://127.0.0.1:(\d+)", line)
            if match:
                port = int(match[1])
                break
        server = Server(process, port)
        path, variable = CLIENTS[0]
        answer = server.request(path, "tools/list", token=ENVIRONMENT[variable])
        assert answer.status == 200
        assert answer.message["result"]["tools"]
        assert server.request(path, "tools/list").status == 401
        process.terminate()
        log = process.stderr.read()
        process.wait(30)
    finally:
        process.kill()
        process.communicate()
    assert b"Application shutdown complete" in log
