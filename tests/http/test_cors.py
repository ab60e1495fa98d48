"""CORS: web pages of declared origins and of allowed hosts can call a server."""

from __future__ import annotations

import http.server
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.catalog.browser_setup import find_chromium
from tests.http.serving import rpc, run_server
from tests.mcp.projects import generate_project
from tests.project_files import write_files, write_toolset
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.http import Endpoint, HttpSettings
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.mcp import McpServer

# Some sandboxes are not available in containers; nothing is downloaded.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
PAGE, EXTENSION, LOCAL = (
    "https://page.example",
    "chrome-extension://abcdef",
    "http://localhost:6274",
)
FOREIGN = ("https://evil.example", "http://page.example", "https://page.example.evil")
REQUESTED = "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version"


@asynccontextmanager
async def make_client(
    tmp_path: Path, *, token: str | None = None, hosts: str = ""
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client of a server that declares two origins."""
    package = Package(tmp_path, definition("work"))
    settings = HttpSettings(
        (Endpoint("/mcp", None, "TOY_TOKEN"),),
        "TOY_ADMIN",
        "TOY_HOSTS",
        allowed_origins=(PAGE, EXTENSION, "null"),
    )
    environment = {"TOY_HOSTS": hosts} | ({"TOY_TOKEN": token} if token else {})
    server = McpServer(Registry(package.load()), name="toy", http=settings)
    listening = ListenSettings.from_environment(settings, "127.0.0.1", environment)
    app = build_http_app(server, listening)
    async with (
        app.lifespan_context(app),
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://127.0.0.1"
        ) as client,
    ):
        yield client


async def preflight(client: httpx.AsyncClient, origin: str) -> httpx.Response:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": REQUESTED,
        # Chrome 104 to 141 sends it if a public page calls a server on the user's network.
        "Access-Control-Request-Private-Network": "true",
    }
    return await client.options("/mcp", headers=headers)


async def list_tools(
    client: httpx.AsyncClient, origin: str, token: str | None = None
) -> httpx.Response:
    body, headers = rpc("tools/list", modern=True)
    headers["Origin"] = origin
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return await client.post("/mcp", content=body, headers=headers)


@pytest.mark.parametrize("origin", [PAGE, EXTENSION, "null", LOCAL])
async def test_allowed_origin_cors_preflight_needs_no_token_but_its_request_does(
    tmp_path: Path, origin: str
) -> None:
    async with make_client(tmp_path, token="t-123456789012") as client:
        answer = await preflight(client, origin)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == origin
        assert answer.headers["access-control-allow-headers"] == REQUESTED
        assert answer.headers["access-control-allow-private-network"] == "true"
        assert "POST" in answer.headers["access-control-allow-methods"]
        refused = await list_tools(client, origin)
        listed = await list_tools(client, origin, "t-123456789012")
    assert (refused.status_code, listed.status_code) == (401, 200)
    for answer in (refused, listed):
        assert answer.headers["access-control-allow-origin"] == origin
        assert "origin" in answer.headers["vary"].lower()
        exposed = answer.headers["access-control-expose-headers"]
        assert "mcp-session-id" in exposed and "www-authenticate" in exposed
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("origin", FOREIGN)
async def test_undeclared_origins_get_403_without_cors_headers(
    tmp_path: Path, origin: str
) -> None:
    async with make_client(tmp_path) as client:
        for answer in (
            await preflight(client, origin),
            await list_tools(client, origin),
        ):
            assert answer.status_code == 403
            assert not [n for n in answer.headers if n.startswith("access-control")]


async def test_wildcard_allowed_host_does_not_allow_every_origin(
    tmp_path: Path,
) -> None:
    async with make_client(tmp_path, hosts="*") as client:
        answer = await preflight(client, FOREIGN[0])
        assert "access-control-allow-origin" not in answer.headers
        assert (await preflight(client, PAGE)).status_code == 200


async def test_404_and_405_responses_have_cors_headers_for_an_allowed_origin(
    tmp_path: Path,
) -> None:
    async with make_client(tmp_path) as client:
        missing = await client.get(
            "/.well-known/oauth-protected-resource", headers={"Origin": PAGE}
        )
        stream = await client.get("/mcp", headers={"Origin": PAGE})
    assert (missing.status_code, stream.status_code) == (404, 405)
    for answer in (missing, stream):
        assert answer.headers["access-control-allow-origin"] == PAGE


async def test_request_with_two_origin_headers_gets_no_cors_headers(
    tmp_path: Path,
) -> None:
    async with make_client(tmp_path) as client:
        headers = [("Origin", PAGE), ("Origin", LOCAL)]
        answer = await client.post("/mcp", headers=headers)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


SCRIPT = """
<pre id=result>waiting</pre>
<script>
const headers = {
  "Content-Type": "application/json",
  "Accept": "application/json, text/event-stream",
  "MCP-Protocol-Version": "2025-11-25",
  "Authorization": "Bearer TOKEN",
};
const body = JSON.stringify({jsonrpc: "2.0", id: 1, method: "tools/list"});
fetch("http://127.0.0.1:PORT/mcp/", {method: "POST", headers, body}).then(
  async (answer) => result.textContent = answer.status + " " + await answer.text(),
  (error) => result.textContent = "blocked: " + error,
);
</script>
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    toolset = "name: pages\ntitle: Pages\nhandlers: pages\ntargets:\n  registry: {}\n"
    toolset += "  mcp: {http: {allowed_origins: ['http://page.example:PORT']}}\n"
    tool = "name: work\nsummary: Works.\nparameters: {type: object}\n"
    tool += "handler: pages:work\n"
    specs = {"toolset": toolset, "work": tool}
    root = write_toolset(tmp_path_factory.mktemp("pages"), "pages", specs)
    write_files(root, {"pages.py": "def work(): return 'done'\n"})
    return root


@pytest.mark.browser
@pytest.mark.parametrize(
    ("host", "token", "result"),
    [
        ("page.example", "right-token-123456", "200 event: message"),
        ("page.example", "wrong-token-123456", "401 {"),
        ("127.0.0.1", "right-token-123456", "200 event: message"),
        ("evil.example", "right-token-123456", "blocked: TypeError"),
    ],
)
def test_chromium_allows_requests_from_declared_and_local_pages_only(
    project: Path, tmp_path: Path, host: str, token: str, result: str
) -> None:
    page_folder = tmp_path

    class Pages(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments, directory=str(page_folder))

    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    port = pages.server_address[1]
    toolset = project / "specs/pages/toolset.yaml"
    declared = re.sub(r"page\.example:\w+", f"page.example:{port}", toolset.read_text())
    toolset.write_text(declared)
    generate_project(project)
    env = {"PAGES_TOKEN": "right-token-123456"}
    try:
        with run_server(package="generated.pages", root=project, env=env) as server:
            text = SCRIPT.replace("PORT", str(server.port)).replace("TOKEN", token)
            (page_folder / "index.html").write_text(text)
            page_text = open_page(f"http://{host}:{port}/")
    finally:
        pages.shutdown()
        pages.server_close()
    assert page_text.startswith(result)


def open_page(url: str) -> str:
    """Open a page in Chromium and return its text after its request."""
    from playwright.sync_api import sync_playwright

    rules = "--host-resolver-rules=MAP *.example 127.0.0.1"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=find_chromium(), args=[*FLAGS, rules]
        )
        page = browser.new_page()
        page.goto(url)
        page.wait_for_function("result.textContent != 'waiting'")
        text: str = page.text_content("#result") or ""
        browser.close()
    return text
