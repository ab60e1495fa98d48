"""External servers over HTTP: access, authentication, invalid responses and reconnection."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import logging
from collections.abc import AsyncIterator, Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from generated.kirishima import registry
from tests.external.conftest import Open, call_tool, wait_for_tool
from tests.external.servers.http_servers import PersonalServer
from tests.external.servers.upstream import Upstream
from tests.thread_server import serve_in_threads
from tests.waiting import wait_until_async
from toolcast.mcp_client.declared_servers import parse_url_server
from toolcast.mcp_client.read_server import read_server
from toolcast.mcp_client.server_listing import ListingError
from toolcast_runtime.core.server_settings import ExternalServer
from toolcast_runtime.external import transports
from toolcast_runtime.external.sdk_logging import (
    IS_SDK_LOG_SUPPRESSED,
    suppress_sdk_logs,
)

TOKEN = "hunter2-hunter2"
StartServer = Callable[..., PersonalServer]


@pytest.fixture(autouse=True)
async def close_registry() -> AsyncIterator[None]:
    """Close the connections that another test of the process may have left."""
    await registry.REGISTRY.close()
    yield
    await registry.REGISTRY.close()


async def test_external_tools_are_listed_and_called_only_for_allowed_clients(
    start_personal_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are in the router's catalog, too, but never always listed."""
    server = start_personal_server("--token", TOKEN)
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", server.url)
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_TOKEN", TOKEN)
    internal = [tool["name"] for tool in await registry.get_mcp_tools("internal")]
    assert internal[-4:] == ["calendar", "contacts", "email", "lists"]
    external = [tool["name"] for tool in await registry.get_mcp_tools("external")]
    assert external == ["memory", "calendar", "contacts"]
    copilot = [tool["name"] for tool in await registry.get_mcp_tools("copilot")]
    assert copilot == ["get_personality", "github_issue"]
    catalog = await registry.get_routed_tools_catalog("internal")
    assert {"calendar", "contacts", "email", "lists"} <= catalog.keys()
    always = await registry.get_always_tools("internal")
    names = {tool["function"]["name"] for tool in always}
    assert names == {"get_personality", "manage_prompt", "memory"}
    arguments = {"action": "create_list", "title": "Shopping"}
    created = await registry.call_tool("lists", arguments, "internal")
    assert created.result["created"]["title"] == "Shopping"
    assert (await registry.call_tool("get_personality", {}, "internal")).success
    for tool, client in (("email", "external"), ("calendar", "copilot")):
        denied = await registry.call_tool(tool, {"action": "list_lists"}, client)
        assert denied.error == f"unknown tool `{tool}`"


async def test_unknown_tool_and_always_tools_connect_no_external_servers() -> None:
    """Always tools are those that a router lists for every message."""
    response = await registry.call_tool("no_such_tool", {}, "internal")
    assert response.error == "unknown tool `no_such_tool`"
    assert len(await registry.get_always_tools("internal")) == 3
    assert registry.EXTERNAL_TOOLS._connections == {}


async def test_local_tools_are_listed_while_an_external_server_is_unreachable(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KIRISHIMA_PERSONAL_MCP_URL", "http://127.0.0.1:9/mcp")
    names = [tool["name"] for tool in await registry.get_mcp_tools("external")]
    assert names == ["memory"]
    assert "external server personal: not connected: ConnectError" in caplog.text


@pytest.mark.slow
async def test_restarted_external_http_server_is_reconnected_without_logged_secrets(
    open_tools: Open,
    start_personal_server: StartServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = start_personal_server("--token", TOKEN)
    monkeypatch.setenv("PERSONAL_TOKEN", TOKEN)
    headers = {"Authorization": "Bearer ${PERSONAL_TOKEN}"}
    address = f"{server.url}?key=${{PERSONAL_TOKEN}}"
    tools = open_tools(ExternalServer("personal", url=address, headers=headers))
    assert (await call_tool(tools, "lists", action="list_lists")).success
    server.stop()
    assert not (await call_tool(tools, "lists", action="list_lists")).success
    await wait_until_async(lambda: "not connected" in caplog.text)
    server.start()
    await wait_for_tool(tools, "lists")
    assert (await call_tool(tools, "lists", action="list_lists")).success
    assert TOKEN not in caplog.text


async def test_mcp_sdk_log_records_are_suppressed_only_in_toolcast_tasks(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def log_warning(message: str) -> None:
        logging.getLogger("mcp.client.stdio").warning(message)

    async def log_in_toolcast_task() -> None:
        IS_SDK_LOG_SUPPRESSED.set(True)
        await asyncio.gather(asyncio.to_thread(log_warning, "in a thread of toolcast"))
        log_warning("in toolcast")

    suppress_sdk_logs()
    await asyncio.create_task(log_in_toolcast_task())
    log_warning("in another task")
    assert [record.message for record in caplog.records] == ["in another task"]


def write_certificate(path: Path) -> None:
    """Write a key and its own certificate for 127.0.0.1, which no authority signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    today = datetime.datetime.now(datetime.UTC)
    addresses = [x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(addresses), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    key_bytes = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(key_bytes + certificate.public_bytes(pem))


async def test_external_server_with_private_certificate_is_accepted_by_ssl_cert_file(
    open_tools: Open,
    start_personal_server: StartServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """`toolcast import` accepts it, too; both ignore HTTPS_PROXY."""
    certificate = tmp_path / "certificate.pem"
    write_certificate(certificate)
    server = start_personal_server("--certificate", str(certificate))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    refused = open_tools(ExternalServer("personal", url=server.url))
    assert await refused.list_tools() == ()
    with pytest.raises(ListingError, match="CERTIFICATE_VERIFY_FAILED"):
        await asyncio.to_thread(read_server, parse_url_server(server.url))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    accepted = open_tools(ExternalServer("personal", url=server.url))
    names = {tool.name for tool in await accepted.list_tools()}
    listing = await asyncio.to_thread(read_server, parse_url_server(server.url))
    assert "lists" in names and listing.protocol == "2026-07-28"
    assert {tool["name"] for tool in listing.tools} == names


class InvalidResponseHandler(BaseHTTPRequestHandler):
    """A handler with responses that are not MCP."""

    content_type, body = "", b""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(200)
        self.send_header("content-type", self.content_type)
        self.end_headers()
        try:
            self.wfile.write(self.body)
            while self.content_type == "application/json" and self.body[:1] == b" ":
                self.wfile.write(b" " * 1_000_000)
        except OSError:
            return


JSON, EVENTS = "application/json", "text/event-stream"
INVALID_RESPONSES = {
    "html page": ("text/html", b"<h1>It works!</h1>"),
    "not json-rpc": (JSON, b"{}"),
    "endless body": (JSON, b" "),
    "deeply nested json": (JSON, b"[" * 100_000),
    "long event": (EVENTS, b"data: " + b"x" * 20_000_000),
    "invalid event": (EVENTS, b"data: \x1b[2J\n\n"),
}


@pytest.mark.parametrize(
    ("content_type", "body"), INVALID_RESPONSES.values(), ids=INVALID_RESPONSES
)
async def test_invalid_external_server_http_response_is_logged_and_tools_omitted(
    content_type: str, body: bytes, open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    attributes = {"content_type": content_type, "body": body}
    handler = type("Handler", (InvalidResponseHandler,), attributes)
    with serve_in_threads(handler) as url:
        server = ExternalServer("odd", url=f"{url}/mcp", connect_timeout=20.0)
        tools = open_tools(server)
        assert await tools.list_tools() == ()
        await tools.close()
    assert "external server odd: not connected: " in caplog.text
    assert "\x1b" not in caplog.text and "Traceback" not in caplog.text


@pytest.mark.slow
async def test_external_call_without_a_free_http_connection_fails(
    open_tools: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Running calls finish."""
    monkeypatch.setattr(transports, "_MAX_CONNECTIONS", 3)
    monkeypatch.setattr(transports, "_CONNECT_TIMEOUT_S", 0.5)
    upstream = Upstream()
    upstream.can_answer.clear()
    try:
        tools = open_tools(ExternalServer("slow", url=upstream.url))
        await tools.list_tools()
        calls = [asyncio.create_task(call_tool(tools, "fetch")) for _ in range(3)]
        requests = upstream.requests
        await wait_until_async(
            lambda: [m for m, _ in requests].count("tools/call") == 3
        )
        response = await call_tool(tools, "fetch")
        assert response.error and "all 3 connections are in use" in response.error
        upstream.can_answer.set()
        results = [response.result for response in await asyncio.gather(*calls)]
        assert results == ["hello"] * 3
        assert (await call_tool(tools, "fetch")).result == "hello"
        await tools.close()
    finally:
        upstream.stop()
