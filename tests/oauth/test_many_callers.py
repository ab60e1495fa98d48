"""Hundreds of callers with bad tokens: others are answered and the log stays short.

Three processes take part: the server, which has few file descriptors; the callers; and this
process, which is the authorization server and sends valid requests.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from starlette.middleware.base import BaseHTTPMiddleware

from tests.http.serving import ROOT, Server
from tests.oauth.authorization_server import (
    AuthorizationServer,
    run_authorization_server,
)
from tests.oauth.forged import sign_by_hand
from tests.oauth.served_shop import PLAIN
from tests.oauth.shop import DESK, make_environment, run_shop
from tests.oauth.shop import Server as ShopServer
from tests.oauth.test_issuer_faults import make_introspection_settings
from tests.waiting import wait_until_async
from toolcast_runtime.oauth import authorization_server as issuer_module

if TYPE_CHECKING:
    from pathlib import Path

    from toolcast_runtime import Registry

DESCRIPTORS = 512
# Connections may use three quarters; the rest is for the server's own requests and files.
MAX_USED_DESCRIPTORS = DESCRIPTORS * 7 / 8
CALLERS = 300
ROUNDS = 3
# The callers end at this time at the latest; a round needs two seconds on an idle machine.
CALLERS_TIMEOUT_S = 60.0


@contextmanager
def serve_shop(folder: Path, issuer: str) -> Iterator[Server]:
    """Start the shop as a process and yield it when it listens."""
    arguments = [str(folder), issuer, str(DESCRIPTORS)]
    command = [sys.executable, "-m", "tests.oauth.served_shop", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
    server = Server(process, 0)
    listens = threading.Event()

    def collect_log() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            server.lines.append(line)
            if found := re.search(rb"serving .*http://[^ ]*:(\d+)/", line):
                server.port = int(found[1])
                listens.set()

    thread = threading.Thread(target=collect_log, daemon=True)
    thread.start()
    try:
        assert listens.wait(60), server.log
        yield server
    finally:
        process.terminate()
        process.wait(30)
        thread.join(30)


@contextmanager
def run_bad_callers(server: Server) -> Iterator[None]:
    """Run callers with bad tokens in a loop; yield when the server limits them."""
    arguments = [str(server.port), str(CALLERS), str(CALLERS_TIMEOUT_S)]
    command = [sys.executable, "-m", "tests.oauth.bad_token_callers", *arguments]
    before = len(server.lines)
    callers = subprocess.Popen(command, cwd=ROOT)
    try:
        server.wait_for_log("cannot validate tokens: too many", before)
        yield
        assert callers.poll() is None
    finally:
        callers.kill()
        callers.wait()


def count_repeated_lines(server: Server) -> int:
    """Return the largest number of equal lines in a second, except of admitted requests."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in server.log.splitlines():
        match = re.match(r"(\S+T\S+)\.\d+\S* \S+ (\S+) (.*)", line)
        assert match, f"not a log line: {line}"
        kind = re.sub(r"[\d.]+ ms", "ms", match[3]).partition(" (and")[0]
        if kind != "POST /mcp/ 200 in ms":
            counts[match[1], f"{match[2]} {kind}"] += 1
    return max(counts.values())


def assert_server_responds(server: Server, *tokens: str) -> None:
    """Check a call with each token and `/health` in each round, and the descriptors."""
    for _ in range(ROUNDS):
        for token in tokens:
            assert server.request("/mcp/", "tools/list", token=token).status == 200
        assert server.send("/health", method="GET").status == 200
    used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
    assert used < MAX_USED_DESCRIPTORS


@pytest.mark.skipif(sys.platform != "linux", reason="it counts descriptors in /proc")
@pytest.mark.timeout(240)
@pytest.mark.slow
def test_valid_tokens_are_answered_during_a_bad_token_flood(tmp_path: Path) -> None:
    """Health requests get 200 too, and the log repeats no line often."""
    with (
        run_authorization_server() as issuer,
        serve_shop(tmp_path, issuer.url) as server,
    ):
        issuer.active["known"] = {**issuer.claims(DESK), "active": True}
        assert server.request("/mcp/", "tools/list", token="known").status == 200
        with run_bad_callers(server):
            assert_server_responds(server, PLAIN, "known")
    # One line of a kind is logged per second, and a clock second may contain parts of two.
    assert count_repeated_lines(server) <= 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it counts descriptors in /proc")
@pytest.mark.timeout(240)
def test_plain_tokens_are_answered_while_the_issuer_hangs(tmp_path: Path) -> None:
    """Health requests get 200 too, and unknown tokens 503 with a retry time."""
    with socket.create_server(("127.0.0.1", 0), backlog=1_024) as hanging:
        issuer = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        with serve_shop(tmp_path, issuer) as server, run_bad_callers(server):
            assert_server_responds(server, PLAIN)
            unknown = server.request("/mcp/", "tools/list", token="perhaps")
            assert unknown.status == 503 and int(unknown.headers["retry-after"]) <= 30
    assert count_repeated_lines(server) <= 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are few by prlimit")
@pytest.mark.timeout(120)
def test_300_parallel_valid_callers_are_answered_with_200_or_503(
    tmp_path: Path,
) -> None:
    """With few descriptors, at least 200 are answered and the others get 503."""

    async def call(port: int) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
        writer.write(
            b"POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            b"Content-Type: application/json\r\nAuthorization: Bearer %s\r\n"
            b"Accept: application/json, text/event-stream\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (PLAIN.encode(), len(body), body)
        )
        try:
            return (await reader.read()).partition(b"\r\n")[0]
        finally:
            writer.close()

    async def calls(port: int) -> Counter[bytes]:
        return Counter(await asyncio.gather(*(call(port) for _ in range(CALLERS))))

    with serve_shop(tmp_path, "http://127.0.0.1:9") as server:
        counts = asyncio.run(calls(server.port))
        assert counts[b"HTTP/1.1 200 OK"] >= 200
        refused = CALLERS - counts[b"HTTP/1.1 200 OK"]
        assert counts[b"HTTP/1.1 503 Service Unavailable"] == refused
        assert server.request("/mcp/", "tools/list", token=PLAIN).status == 200


class Introspection:
    """Introspection responses that are held until `answers` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
        self.tokens: list[str] = []
        self.cancelled_count = 0
        self.answers = asyncio.Event()
        self.answer = answer
        monkeypatch.setattr(issuer_module, "fetch_json", self.fetch)

    async def fetch(self, url: str, form: dict[str, str], credentials: Any) -> Any:
        self.tokens.append(form["token"])
        try:
            await self.answers.wait()
        except asyncio.CancelledError:
            self.cancelled_count += 1
            raise
        return self.answer


async def run_other_tasks() -> None:
    """Let other tasks run until they wait, by loop iterations instead of time."""
    for _ in range(1_000):
        await asyncio.sleep(0)


def run_introspecting_shop(
    registry: Registry, issuer: AuthorizationServer
) -> AbstractAsyncContextManager[ShopServer]:
    url = f"{issuer.url}/introspect"
    environment = make_introspection_settings(issuer, SHOP_OAUTH_INTROSPECTION_URI=url)
    return run_shop(registry, environment, introspection=True)


async def forward(request: Any, call_next: Any) -> Any:
    """Pass a request on, as the simplest `BaseHTTPMiddleware` does."""
    return await call_next(request)


async def test_parallel_unknown_tokens_are_limited_to_8_introspections_and_24_waiting(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further ones get 503; parallel requests with a known token share an introspection."""
    claims = {**issuer.claims(DESK), "active": True}
    introspection = Introspection(monkeypatch, claims)
    async with run_introspecting_shop(registry, issuer) as server:
        introspection.answers.set()
        assert (await server.request("known")).status_code == 200
        introspection.answers.clear()
        calls = [
            asyncio.create_task(server.request(f"bad {number}")) for number in range(99)
        ]
        await wait_until_async(lambda: sum(call.done() for call in calls) >= 99 - 24)
        await run_other_tasks()
        done, waiting = await asyncio.wait(calls, timeout=0)
        assert {call.result().status_code for call in done} == {503}
        assert {call.result().headers["retry-after"] for call in done} == {"1"}
        assert len(waiting) == 24
        assert len(introspection.tokens) == 1 + 8

        known = [asyncio.create_task(server.request("known")) for _ in range(20)]
        await wait_until_async(lambda: len(introspection.tokens) > 1 + 8)
        await run_other_tasks()
        assert introspection.tokens[1 + 8 :] == ["known"]
        introspection.answers.set()
        responses = await asyncio.gather(*known)
        assert {response.status_code for response in responses} == {200}
        await asyncio.gather(*waiting)


async def test_token_introspection_is_cancelled_when_its_last_caller_disconnects(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    introspection = Introspection(monkeypatch, {"active": False})
    async with run_introspecting_shop(registry, issuer) as server:
        disconnects = [asyncio.Event(), asyncio.Event()]
        calls = [
            asyncio.create_task(_send_and_disconnect(server.app, disconnect))
            for disconnect in disconnects
        ]
        await wait_until_async(lambda: introspection.tokens == ["bad"])
        await run_other_tasks()
        disconnects[0].set()
        assert await calls[0] == 408
        assert not introspection.cancelled_count
        disconnects[1].set()
        assert await calls[1] == 408
        await wait_until_async(lambda: introspection.cancelled_count)


async def test_authenticated_requests_through_base_http_middleware_keep_their_body(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """The middleware discards a received message if the receiver is cancelled."""
    async with run_shop(registry, make_environment(issuer)) as server:
        app = BaseHTTPMiddleware(server.app, forward)
        for _ in range(2):
            async with asyncio.timeout(5):
                token = issuer.token(DESK)
                assert await _send_and_disconnect(app, asyncio.Event(), token) == 200


async def test_caller_that_disconnects_during_introspection_behind_middleware_gets_408(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    introspection = Introspection(monkeypatch, {"active": False})
    async with run_introspecting_shop(registry, issuer) as server:
        disconnects = asyncio.Event()
        app = BaseHTTPMiddleware(server.app, forward)
        call = asyncio.create_task(_send_and_disconnect(app, disconnects))
        await wait_until_async(lambda: introspection.tokens)
        disconnects.set()
        assert await call == 408


async def _send_and_disconnect(
    app: Any, disconnects: asyncio.Event, token: str = "bad"
) -> int:
    """Send a request and disconnect on an event; return the status, or 0 without response."""
    status = 0
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await disconnects.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            disconnects.set()

    headers = [
        (b"host", b"shop.example"),
        (b"authorization", b"Bearer " + token.encode()),
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
    ]
    scope = {"type": "http", "method": "POST", "path": "/mcp/", "headers": headers}
    await app(scope, receive, send)
    return status


ODD_VALUES: dict[str, Any] = {
    "null": None,
    "minus": -1,
    "infinite": float("inf"),
    "huge": 10**400,
    "surrogate": "\ud800",
    "control": "a\n\x00",
    "long": "x" * 5_000,
    "nested": [[[]], {}],
    "object": {"a": {"b": []}},
}
HEADER_NAMES = "alg typ kid crit b64 zip cty jwk jku x5c x5u".split()
CLAIMS = (
    "iss aud sub exp nbf iat jti scope scp cnf client_id azp token_type active act"
).split()


@pytest.mark.rows(6)
@pytest.mark.parametrize("odd", ODD_VALUES)
async def test_odd_values_in_jwt_headers_and_claims_cause_no_server_error(
    odd: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    """The header is read before the signature is verified."""
    value = ODD_VALUES[odd]
    async with run_shop(registry, make_environment(issuer)) as server:
        for name in HEADER_NAMES:
            token = sign_by_hand(
                issuer, DESK, {"typ": "at+jwt", "kid": "one"} | {name: value}
            )
            status = (await server.request(token)).status_code
            assert status in (200, 401), (name, status)
            forged = token.rpartition(".")[0] + ".AAAA"
            assert (await server.request(forged)).status_code == 401, name
        for name in CLAIMS:
            token = sign_by_hand(issuer, DESK, {"kid": "one"}, **{name: value})
            status = (await server.request(token)).status_code
            assert status in (200, 401, 403), (name, status)


@pytest.mark.rows(6)
@pytest.mark.parametrize("odd", ODD_VALUES)
async def test_odd_values_in_oauth_introspection_responses_cause_no_server_error(
    odd: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    for name in CLAIMS:
        claims = {**issuer.claims(DESK), "active": True, name: ODD_VALUES[odd]}
        issuer.active[name] = claims
    async with run_introspecting_shop(registry, issuer) as server:
        for name in CLAIMS:
            status = (await server.request(name)).status_code
            assert status in (200, 401, 403), (name, status)
