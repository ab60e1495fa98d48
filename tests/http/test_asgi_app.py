"""The application of a generated module, under any ASGI server and mounted in another one."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Mapping

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from generated.molecule.mcp_server import app
from tests.http.serving import ROOT, RunningServer, rpc

MODULE = "generated.molecule.mcp_server"
CLIENTS = [
    (endpoint.path, endpoint.token_variable)
    for endpoint in app._server.http.endpoints  # type: ignore[union-attr]
]
OPEN = {
    **{variable: f"{variable.lower()}-secret" for _, variable in CLIENTS},
    "MOLECULE_ALLOWED_HOSTS": "tools.example.org",
}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OPEN.items():
        monkeypatch.setenv(name, value)


async def listed(
    client: httpx.AsyncClient, path: str, variable: str, host: str = "tools.example.org"
) -> httpx.Response:
    body, headers = rpc("tools/list")
    headers |= {
        "Authorization": f"Bearer {OPEN[variable]}",
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "Host": host,
    }
    return await client.post(path, content=body, headers=headers)


@pytest.mark.usefixtures("opened")
@pytest.mark.parametrize("below", ["/platform", ""])
def test_mounted_it_answers_to_its_hosts_and_tokens(below: str) -> None:
    outer = Starlette(routes=[Mount(below or "/", app)], lifespan=app.lifespan)
    path, variable = CLIENTS[0]

    async def asked() -> list[httpx.Response]:
        transport = httpx.ASGITransport(outer)
        async with (
            outer.router.lifespan_context(outer),
            httpx.AsyncClient(transport=transport, base_url="http://x") as client,
        ):
            return [
                await listed(client, below + path, variable),
                await listed(client, below + path, variable, "evil.example.org"),
                await client.post(below + path, headers={"Host": "tools.example.org"}),
                await client.get(f"{below}/health"),
                await client.get(f"{below}/elsewhere"),
            ]

    answers = asyncio.run(asked())
    assert [answer.status_code for answer in answers] == [200, 421, 401, 200, 404]
    assert '"tools"' in answers[0].text


def test_mounted_without_its_lifespan_it_says_what_to_do() -> None:
    outer = Starlette(routes=[Mount("/platform", app)])

    async def asked() -> httpx.Response:
        transport = httpx.ASGITransport(outer)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as one:
            return await one.get("/platform/health")

    answer = asyncio.run(asked())
    assert answer.status_code == 503
    assert "lifespan=app.lifespan" in answer.json()["help"]


@pytest.mark.parametrize(
    "missing", [*(v for _, v in CLIENTS), "MOLECULE_ALLOWED_HOSTS"]
)
def test_it_does_not_start_open(
    missing: str, opened: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(missing)
    received = [{"type": "lifespan.startup"}]
    sent: list[Mapping[str, object]] = []

    async def run() -> None:
        async def receive() -> dict[str, str]:
            return received.pop()

        async def send(message: object) -> None:
            assert isinstance(message, dict)
            sent.append(message)

        await app({"type": "lifespan"}, receive, send)

    asyncio.run(run())
    assert [message["type"] for message in sent] == ["lifespan.startup.failed"]
    assert missing in str(sent[0]["message"])


def test_importing_it_builds_nothing() -> None:
    code = f"import sys, {MODULE}; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = done.stdout.split()
    assert not {"mcp", "starlette", "uvicorn", "toolcast_runtime.http.app"} & {*loaded}


@pytest.mark.slow
def test_uvicorn_runs_it_and_ends_it() -> None:
    command = [sys.executable, "-m", "uvicorn", f"{MODULE}:app", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **OPEN}, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr is not None
        port = 0
        for line in process.stderr:
            found = re.search(rb"running on http://127.0.0.1:(\d+)", line)
            if found:
                port = int(found[1])
                break
        served = RunningServer(process, port)
        path, variable = CLIENTS[0]
        answer = served.request(path, "tools/list", token=OPEN[variable])
        assert answer.status == 200
        assert answer.message["result"]["tools"]
        assert served.request(path, "tools/list").status == 401
        process.terminate()
        rest = process.stderr.read()
        process.wait(30)
    finally:
        process.kill()
        process.communicate()
    assert b"Application shutdown complete" in rest
