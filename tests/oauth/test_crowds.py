"""Hundreds of callers without a good token keep nobody out, and fill no log.

Three processes: the server, whose descriptors are few; the callers; and this one, which is the
authorization server and asks as honest callers do. The figures: who with a good token was
answered, how often `/health` was, and how many lines of a kind the log has in a second.
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

from tests.http.serving import ROOT, RunningServer
from tests.oauth.authorization_server import AuthorizationServer, authorization_server
from tests.oauth.forged import by_hand
from tests.oauth.served_shop import PLAIN
from tests.oauth.shop import DESK, environment, serving
from tests.oauth.test_issuer_faults import with_introspection
from toolcast_runtime.oauth import authorization_server as asking

if TYPE_CHECKING:
    from pathlib import Path

    from toolcast_runtime import Registry

DESCRIPTORS = 512
# A house has three quarters of them; the rest is for what the server asks and writes.
MOST_USED = DESCRIPTORS * 7 / 8
CALLERS = 300
ROUNDS = 6
# A round on a machine that does nothing else takes less than two.
PATIENCE = 60.0


@contextmanager
def shop(
    folder: Path, issuer: str, descriptors: int = DESCRIPTORS
) -> Iterator[RunningServer]:
    words = [str(folder), issuer, str(descriptors)]
    command = [sys.executable, "-m", "tests.oauth.served_shop", *words]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
    server = RunningServer(process, 0)
    listens = threading.Event()

    def keep() -> None:
        assert process.stderr is not None
        for line in process.stderr:
            server.lines.append(line)
            if found := re.search(rb"serving .*http://[^ ]*:(\d+)/", line):
                server.port = int(found[1])
                listens.set()

    thread = threading.Thread(target=keep, daemon=True)
    thread.start()
    try:
        assert listens.wait(60), server.log
        yield server
    finally:
        process.terminate()
        process.wait(30)
        thread.join(30)


@contextmanager
def crowd(server: RunningServer) -> Iterator[None]:
    """While so many callers ask in a tight loop; begins when they do."""
    words = [str(server.port), str(CALLERS), str(PATIENCE)]
    command = [sys.executable, "-m", "tests.oauth.crowd", *words]
    before = len(server.lines)
    callers = subprocess.Popen(command, cwd=ROOT)
    try:
        server.wait_for_log("cannot validate tokens: too many", before)
        yield
        assert callers.poll() is None
    finally:
        callers.kill()
        callers.wait()


def most_of_a_kind_in_a_second(server: RunningServer) -> int:
    """Of all lines, but for those of requests that were let in."""
    told: Counter[tuple[str, str]] = Counter()
    for line in server.log.splitlines():
        begins = re.match(r"(\S+T\S+)\.\d+\S* \S+ (\S+) (.*)", line)
        assert begins, f"no line of its own: {line}"
        kind = re.sub(r"[\d.]+ ms", "ms", begins[3]).partition(" (and")[0]
        if kind != "POST /mcp/ 200 in ms":
            told[begins[1], f"{begins[2]} {kind}"] += 1
    return max(told.values())


def answered(server: RunningServer, token: str) -> list[tuple[int, int]]:
    """What a call and `/health` were answered, in each of some rounds."""
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
def test_bad_tokens_in_a_tight_loop(tmp_path: Path, token: str) -> None:
    with (
        authorization_server() as issuer,
        shop(tmp_path, issuer.url) as server,
    ):
        issuer.active["known"] = {**issuer.claims(DESK), "active": True}
        assert server.request("/mcp/", "tools/list", token="known").status == 200
        with crowd(server):
            assert answered(server, token) == [(200, 200)] * ROUNDS
            used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            assert used < MOST_USED
    # A second of the clock has the end of one and the begin of the next.
    assert most_of_a_kind_in_a_second(server) <= 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it counts descriptors in /proc")
@pytest.mark.timeout(240)
def test_an_issuer_that_hangs(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1_024) as hanging:
        issuer = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        with shop(tmp_path, issuer) as server, crowd(server):
            assert answered(server, PLAIN) == [(200, 200)] * ROUNDS
            # Who cannot be known is told to come again, and is not cut off.
            late = server.request("/mcp/", "tools/list", token="perhaps")
            assert late.status == 503 and int(late.headers["retry-after"]) <= 30
            used = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            assert used < MOST_USED
    assert most_of_a_kind_in_a_second(server) <= 2


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are few by prlimit")
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("descriptors", "least"),
    [
        pytest.param(1_024, CALLERS, marks=pytest.mark.slow),
        (DESCRIPTORS, 200),
    ],
)
def test_honest_callers_at_once(tmp_path: Path, descriptors: int, least: int) -> None:
    """Where there is no room for all of them, the rest is told to come again."""

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

    with shop(tmp_path, "http://127.0.0.1:9", descriptors) as server:
        told = asyncio.run(calls(server.port))
        assert told[b"HTTP/1.1 200 OK"] >= least
        rest = CALLERS - told[b"HTTP/1.1 200 OK"]
        assert told[b"HTTP/1.1 503 Service Unavailable"] == rest
        assert server.request("/mcp/", "tools/list", token=PLAIN).status == 200


class Introspection:
    """Answers for tokens, each when it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
        self.asked: list[str] = []
        self.given_up = 0
        self.answers = asyncio.Event()
        self.answer = answer
        monkeypatch.setattr(asking, "fetch_json", self.fetch)

    async def fetch(self, url: str, form: dict[str, str], credentials: Any) -> Any:
        self.asked.append(form["token"])
        try:
            await self.answers.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        return self.answer


async def _until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


def _asking(issuer: AuthorizationServer) -> dict[str, str]:
    at = f"{issuer.url}/introspect"
    return with_introspection(issuer, SHOP_OAUTH_INTROSPECTION_URI=at)


def test_a_token_is_asked_for_once_at_a_time(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def works() -> None:
        said = {**issuer.claims(DESK), "active": True}
        introspection = Introspection(monkeypatch, said)
        async with serving(registry, _asking(issuer), introspection=True) as server:
            calls = [asyncio.create_task(server.request("good")) for _ in range(20)]
            await _until(lambda: introspection.asked)
            await asyncio.sleep(0.05)
            introspection.answers.set()
            statuses = {each.status_code for each in await asyncio.gather(*calls)}
            assert (statuses, introspection.asked) == ({200}, ["good"])
            # A good one is asked for each time: it may have been revoked.
            await server.request("good")
            assert len(introspection.asked) == 2

    asyncio.run(works())


def test_a_refused_token_is_not_asked_for_again(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def works() -> None:
        introspection = Introspection(monkeypatch, {"active": False})
        introspection.answers.set()
        async with serving(registry, _asking(issuer), introspection=True) as server:
            for token in ("bad", "bad", "worse", "bad"):
                assert (await server.request(token)).status_code == 401
        assert introspection.asked == ["bad", "worse"]

    asyncio.run(works())


def test_of_many_tokens_few_are_asked_for_and_few_wait(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def works() -> None:
        said = {**issuer.claims(DESK), "active": True}
        introspection = Introspection(monkeypatch, said)
        async with serving(registry, _asking(issuer), introspection=True) as server:
            introspection.answers.set()
            assert (await server.request("known")).status_code == 200
            introspection.answers.clear()
            calls = [
                asyncio.create_task(server.request(f"bad {number}"))
                for number in range(99)
            ]
            done, waiting = await asyncio.wait(calls, timeout=0.5)
            assert {each.result().status_code for each in done} == {503}
            assert {each.result().headers["retry-after"] for each in done} == {"1"}
            assert len(waiting) == 24
            assert len(introspection.asked) == 1 + 8
            # Who was good before does not stand behind them.
            known = asyncio.create_task(server.request("known"))
            await _until(lambda: len(introspection.asked) == 1 + 8 + 1)
            introspection.answers.set()
            assert (await known).status_code == 200
            await asyncio.gather(*waiting)

    asyncio.run(works())


def test_tokens_for_others_have_no_questions_of_their_own(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has many of another service keeps nobody waiting who is at work."""

    async def works() -> None:
        said = {**issuer.claims(DESK), "active": True}
        introspection = Introspection(monkeypatch, said)
        introspection.answers.set()
        async with serving(registry, _asking(issuer), introspection=True) as server:
            assert (await server.request("known")).status_code == 200
            introspection.answer = {**said, "aud": "https://other.example"}
            for number in range(24):
                assert (await server.request(f"other {number}")).status_code == 401
            introspection.answers.clear()
            others = [
                asyncio.create_task(server.request(f"other {number}"))
                for number in range(24)
            ]
            await _until(lambda: len(introspection.asked) == 25 + 8)
            introspection.answer = said
            known = asyncio.create_task(server.request("known"))
            await _until(lambda: len(introspection.asked) == 25 + 8 + 1)
            introspection.answers.set()
            assert (await known).status_code == 200
            await asyncio.gather(*others)

    asyncio.run(works())


def test_a_question_ends_with_the_last_who_waits_for_it(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an ASGI server tells it: by the message that the caller has disconnected."""

    async def works() -> None:
        introspection = Introspection(monkeypatch, {"active": False})
        async with serving(registry, _asking(issuer), introspection=True) as server:
            leaves = [asyncio.Event(), asyncio.Event()]
            calls = [asyncio.create_task(_call(server.app, each)) for each in leaves]
            await _until(lambda: introspection.asked == ["bad"])
            await asyncio.sleep(0.05)
            leaves[0].set()
            assert await calls[0] == 408
            assert not introspection.given_up
            leaves[1].set()
            assert await calls[1] == 408
            await _until(lambda: introspection.given_up)

    asyncio.run(works())


def test_behind_a_middleware_nothing_that_was_sent_is_lost(
    registry: Registry, issuer: AuthorizationServer
) -> None:
    """One that gives up what it has received, when whoever waits for it is cancelled."""

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:

            async def passed_on(request: Any, call_next: Any) -> Any:
                return await call_next(request)

            app = BaseHTTPMiddleware(server.app, passed_on)
            for _ in range(2):
                async with asyncio.timeout(5):
                    assert await _call(app, asyncio.Event(), issuer.token(DESK)) == 200

    asyncio.run(works())


def test_behind_a_middleware_callers_who_leave_make_no_traceback(
    registry: Registry, issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def works() -> None:
        introspection = Introspection(monkeypatch, {"active": False})
        async with serving(registry, _asking(issuer), introspection=True) as server:

            async def passed_on(request: Any, call_next: Any) -> Any:
                return await call_next(request)

            leaves = asyncio.Event()
            app = BaseHTTPMiddleware(server.app, passed_on)
            call = asyncio.create_task(_call(app, leaves))
            await _until(lambda: introspection.asked)
            leaves.set()
            assert await call == 408

    asyncio.run(works())


async def _call(app: Any, leaves: asyncio.Event, token: str = "bad") -> int:
    """The status that somebody is answered who asks, waits and leaves; 0 for none."""
    status = 0
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await leaves.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            leaves.set()

    headers = [
        (b"host", b"shop.example"),
        (b"authorization", b"Bearer " + token.encode()),
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
    ]
    scope = {"type": "http", "method": "POST", "path": "/mcp/", "headers": headers}
    await app(scope, receive, send)
    return status


ODD: dict[str, Any] = {
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
HEADS = ("alg", "typ", "kid", "crit", "b64", "zip", "cty", "jwk", "jku", "x5c", "x5u")
CLAIMS = (
    "iss aud sub exp nbf iat jti scope scp cnf client_id azp token_type active act"
).split()


@pytest.mark.rows(6)
@pytest.mark.parametrize("odd", ODD)
def test_no_type_in_a_head_or_a_claim_is_a_fault_of_the_server(
    odd: str, registry: Registry, issuer: AuthorizationServer
) -> None:
    """Whoever signs: the head of a token is read before its signature is."""
    value = ODD[odd]

    async def works() -> None:
        async with serving(registry, environment(issuer)) as server:
            for name in HEADS:
                token = by_hand(
                    issuer, DESK, {"typ": "at+jwt", "kid": "one"} | {name: value}
                )
                status = (await server.request(token)).status_code
                assert status in (200, 401), (name, status)
                forged = token.rpartition(".")[0] + ".AAAA"
                assert (await server.request(forged)).status_code == 401, name
            for name in CLAIMS:
                token = by_hand(issuer, DESK, {"kid": "one"}, **{name: value})
                status = (await server.request(token)).status_code
                assert status in (200, 401, 403), (name, status)

    asyncio.run(works())


@pytest.mark.rows(6)
@pytest.mark.parametrize("odd", ODD)
def test_no_type_in_an_answer_of_introspection_is_a_fault_of_the_server(
    odd: str,
    registry: Registry,
    issuer: AuthorizationServer,
) -> None:
    for name in CLAIMS:
        said = {**issuer.claims(DESK), "active": True, name: ODD[odd]}
        issuer.active[name] = said

    async def works() -> None:
        async with serving(registry, _asking(issuer), introspection=True) as server:
            for name in CLAIMS:
                status = (await server.request(name)).status_code
                assert status in (200, 401, 403), (name, status)

    asyncio.run(works())
