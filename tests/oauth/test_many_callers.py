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
from contextlib import contextmanager
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
ROUNDS = 6
# The callers end at this time at the latest; a round needs two seconds on an idle machine.
CALLERS_TIMEOUT_S = 60.0


@contextmanager
def serve_shop(
    folder: Path, issuer: str, descriptors: int = DESCRIPTORS
) -> Iterator[Server]:
    """Start the shop as a process and yield it when it listens."""
    arguments = [str(folder), issuer, str(descriptors)]
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


def request_in_rounds(server: Server, token: str) -> list[tuple[int, int]]:
    """Return the statuses of a call and of `/health` in each round."""
    return [
        (
            server.request("/mcp/", "tools/list", token=token).status,
            server.send("/health", method="GET").status,
        )
        for _ in range(ROUNDS)
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="it counts descriptors in /proc")
@pytest.mark.timeout(240)
@pytest.mark.slow
@pytest.mark.parametrize("token", [PLAIN, "known"])
def test_mcp_server_answers_valid_tokens_during_a_bad_token_flood(
    tmp_path: Path, token: str
) -> None:
    """Health requests get 200 too, and the log repeats no line often."""
    with (
        run_authorization_server() as issuer,
        serve_shop(tmp_path, issuer.url) as server,
    ):
        issuer.active["known"] = {**issuer.claims(DESK), "active": True}
        assert server.request("/mcp/", "tools/list", token="known").status == 200
        with run_bad_callers(server):
            assert request_in_rounds(server, token) == [(200, 200)] * ROUNDS
            used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            assert used < MAX_USED_DESCRIPTORS
    # One line of a kind is logged per second, and a clock second may contain parts of two.
    assert count_repeated_lines(server) <= 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it counts descriptors in /proc")
@pytest.mark.timeout(240)
def test_mcp_server_answers_plain_bearer_tokens_while_the_oauth_issuer_hangs(
    tmp_path: Path,
) -> None:
    """Health requests get 200 too, and unknown tokens 503 with a retry time."""
    with socket.create_server(("127.0.0.1", 0), backlog=1_024) as hanging:
        issuer = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        with serve_shop(tmp_path, issuer) as server, run_bad_callers(server):
            assert request_in_rounds(server, PLAIN) == [(200, 200)] * ROUNDS

            unknown = server.request("/mcp/", "tools/list", token="perhaps")
            assert unknown.status == 503 and int(unknown.headers["retry-after"]) <= 30
            used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            assert used < MAX_USED_DESCRIPTORS
    assert count_repeated_lines(server) <= 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are few by prlimit")
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("descriptors", "min_answered"),
    [pytest.param(1_024, CALLERS, marks=pytest.mark.slow), (DESCRIPTORS, 200)],
)
def test_mcp_server_answers_300_parallel_valid_callers_with_200_or_503(
    tmp_path: Path, descriptors: int, min_answered: int
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

    with serve_shop(tmp_path, "http://127.0.0.1:9", descriptors) as server:
        counts = asyncio.run(calls(server.port))
        assert counts[b"HTTP/1.1 200 OK"] >= min_answered
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


def make_introspection_environment(issuer: AuthorizationServer) -> dict[str, str]:
    url = f"{issuer.url}/introspect"
    return make_introspection_settings(issuer, SHOP_OAUTH_INTROSPECTION_URI=url)


async def test_parallel_requests_with_one_access_token_share_an_introspection(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later requests introspect a valid token again: it may have been revoked."""
    claims = {**issuer.claims(DESK), "active": True}
    introspection = Introspection(monkeypatch, claims)
    async with run_shop(
        registry, make_introspection_environment(issuer), introspection=True
    ) as server:
        calls = [asyncio.create_task(server.request("good")) for _ in range(20)]
        await wait_until_async(lambda: introspection.tokens)
        await run_other_tasks()
        introspection.answers.set()
        statuses = {response.status_code for response in await asyncio.gather(*calls)}
        assert (statuses, introspection.tokens) == ({200}, ["good"])

        await server.request("good")
        assert len(introspection.tokens) == 2


async def test_repeated_requests_with_an_inactive_token_cause_one_introspection(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    introspection = Introspection(monkeypatch, {"active": False})
    introspection.answers.set()
    async with run_shop(
        registry, make_introspection_environment(issuer), introspection=True
    ) as server:
        for token in ("bad", "bad", "worse", "bad"):
            assert (await server.request(token)).status_code == 401
    assert introspection.tokens == ["bad", "worse"]


async def test_parallel_unknown_tokens_are_limited_to_8_introspections_and_24_waiting(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Further ones get 503; a token that was valid before does not wait behind them."""
    claims = {**issuer.claims(DESK), "active": True}
    introspection = Introspection(monkeypatch, claims)
    async with run_shop(
        registry, make_introspection_environment(issuer), introspection=True
    ) as server:
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

        known = asyncio.create_task(server.request("known"))
        await wait_until_async(lambda: len(introspection.tokens) == 1 + 8 + 1)
        introspection.answers.set()
        assert (await known).status_code == 200
        await asyncio.gather(*waiting)


async def test_introspecting_tokens_for_another_audience_does_not_delay_a_valid_token(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They do not count as tokens that were valid before."""
    claims = {**issuer.claims(DESK), "active": True}
    introspection = Introspection(monkeypatch, claims)
    introspection.answers.set()
    async with run_shop(
        registry, make_introspection_environment(issuer), introspection=True
    ) as server:
        assert (await server.request("known")).status_code == 200
        introspection.answer = {**claims, "aud": "https://other.example"}
        for number in range(24):
            assert (await server.request(f"other {number}")).status_code == 401
        introspection.answers.clear()
        others = [
            asyncio.create_task(server.request(f"other {number}"))
            for number in range(24)
        ]
        await wait_until_async(lambda: len(introspection.tokens) == 25 + 8)
        introspection.answer = claims
        known = asyncio.create_task(server.request("known"))
        await wait_until_async(lambda: len(introspection.tokens) == 25 + 8 + 1)
        introspection.answers.set()
        assert (await known).status_code == 200
        await asyncio.gather(*others)


async def test_token_introspection_is_cancelled_when_its_last_caller_disconnects(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    introspection = Introspection(monkeypatch, {"active": False})
    async with run_shop(
        registry, make_introspection_environment(issuer), introspection=True
    ) as server:
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

        async def forward(request: Any, call_next: Any) -> Any:
            return await call_next(request)

        app = BaseHTTPMiddleware(server.app, forward)
        for _ in range(2):
            async with asyncio.timeout(5):
                assert (
                    await _send_and_disconnect(app, asyncio.Event(), issuer.token(DESK))
                    == 200
                )


async def test_caller_that_disconnects_during_introspection_behind_middleware_gets_408(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    introspection = Introspection(monkeypatch, {"active": False})
    async with run_shop(
        registry, make_introspection_environment(issuer), introspection=True
    ) as server:

        async def forward(request: Any, call_next: Any) -> Any:
            return await call_next(request)

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
    "true": True,
    "zero": 0,
    "minus": -1,
    "float": 1.5,
    "infinite": float("inf"),
    "no number": float("nan"),
    "huge": 10**400,
    "empty text": "",
    "text": "x",
    "surrogate": "\ud800",
    "control": "a\n\x00",
    "long": "x" * 5_000,
    "empty list": [],
    "list": ["x", 1, None],
    "nested": [[[]], {}],
    "empty object": {},
    "object": {"a": {"b": []}},
}
HEADER_NAMES = (
    "alg",
    "typ",
    "kid",
    "crit",
    "b64",
    "zip",
    "cty",
    "jwk",
    "jku",
    "x5c",
    "x5u",
)
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
    async with run_shop(
        registry, make_introspection_environment(issuer), introspection=True
    ) as server:
        for name in CLAIMS:
            status = (await server.request(name)).status_code
            assert status in (200, 401, 403), (name, status)
