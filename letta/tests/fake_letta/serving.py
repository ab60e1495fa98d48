"""The fake server's HTTP part: requests, answers and faults."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

from .errors import RequestRefusedError
from .faults import Fault, FaultPlan
from .model_steps import Script
from .routes import agent_routes, entry_routes, memory_routes, registry_routes
from .world import World

__all__ = ["FakeLetta", "Request"]

_ROUTES = [
    *registry_routes.ROUTES.all,
    *entry_routes.ROUTES.all,
    *agent_routes.ROUTES.all,
    *memory_routes.ROUTES.all,
]
_SLASHED = frozenset(["/v1/agents", "/v1/health", "/v1/tools", "/v1/mcp-servers"])
_ANSWERS_WITHOUT_BODY = re.compile("/v1/mcp-servers/[^/]+")


class Request:
    """A parsed request."""

    def __init__(
        self, server: FakeLetta, method: str, target: str, headers: Mapping[str, str]
    ) -> None:
        parts = urlsplit(target)
        self.fake = server
        self.world = server.world
        self.method = method
        self.path = parts.path
        self.query = parse_qs(parts.query)
        self.headers = {key.lower(): value for key, value in headers.items()}
        self.body: Any = None

    @property
    def is_sdk(self) -> bool:
        """Whether Letta recognizes the client as its SDK of version 1 or later."""
        agent = self.headers.get("user-agent", "")
        named = re.search(r"letta-client/(\d+)", agent)
        stainless = "x-stainless-package-version" in self.headers
        return stainless or (named is not None and int(named[1]) >= 1)

    def get_value(self, name: str, default: str | None = None) -> str | None:
        """Return the first value of a query parameter."""
        return self.query.get(name, [default])[0]

    def get_number(self, name: str, default: int | None) -> int | None:
        """Return a query parameter as a number."""
        text = self.get_value(name)
        return default if text is None else int(text)

    def get_values(self, name: str) -> list[str] | None:
        """Return all values of a query parameter: repeated, or joined by commas."""
        values = [*self.query.get(name, []), *self.query.get(f"{name}[]", [])]
        return [v for value in values for v in value.split(",")] or None


class FakeLetta:
    """A running server, as a context manager.

    Attributes:
        world: its database.
        faults: the faults of the next requests.
        script: the model's steps in the next turns.
    """

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World()
        self.faults = FaultPlan()
        self.script: Script = []
        self.released = threading.Event()
        self._active_requests = 0
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    @contextlib.contextmanager
    def track_request(self) -> Iterator[None]:
        """Count a request as active during the block."""
        with self._changed:
            self._active_requests += 1
        try:
            yield
        finally:
            with self._changed:
                self._active_requests -= 1
                self._changed.notify_all()

    def settle(self) -> None:
        """Wait until no request is active."""
        with self._changed:
            assert self._changed.wait_for(lambda: not self._active_requests, 30)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeLetta:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> tuple[int, Any]:
        """Return status and body of a request, without faults."""
        if request.path in _SLASHED:
            return 307, None
        open_to_all = request.path == "/v1/health/"
        if self.world.password is not None and not open_to_all:
            authorization = request.headers.get("authorization", "")
            bare_password = request.headers.get("x-bare-password", "")
            if (
                authorization != f"Bearer {self.world.password}"
                and bare_password != f"password {self.world.password}"
            ):
                return 401, {"detail": "Unauthorized"}
        path_is_known = False
        for method, pattern, handle in _ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match is None:
                continue
            path_is_known = True
            if method != request.method:
                continue
            try:
                with self.world.lock:
                    body = handle(request, *map(unquote, match.groups()))
                has_no_body = method == "DELETE" and _ANSWERS_WITHOUT_BODY.fullmatch(
                    request.path
                )
                return (204, None) if has_no_body else (200, body)
            except RequestRefusedError as refused:
                return refused.status, refused.body
        if path_is_known:
            return 405, {"detail": "Method Not Allowed"}
        return 404, {"detail": "Not Found"}


def _handler(fake: FakeLetta) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are sent in one packet, so that the body does not wait for an ACK.
        wbufsize = 65_536
        disable_nagle_algorithm = True

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

        def _do(self) -> None:
            headers = cast("Mapping[str, str]", self.headers)
            request = Request(fake, self.command, self.path, headers)
            length = int(self.headers.get("content-length") or 0)
            raw = self.rfile.read(length)
            with fake.track_request():
                self._carry_out(request, raw)

        def _carry_out(self, request: Request, raw: bytes) -> None:
            fault = fake.faults.next(request.method, request.path)
            try:
                request.body = json.loads(raw) if raw else None
            except ValueError:
                self._send(422, {"detail": "[{'type': 'json_invalid'}]"})
                return
            if fault is not None and self._fails(fault, request):
                return
            status, body = fake.answer(request)
            self._send(status, body)

        def _fails(self, fault: Fault, request: Request) -> bool:
            if fault.has_effect:
                fake.answer(request)
            kind = fault.name.partition("_")[0]
            if kind == "ERROR":
                self._send(500, {"detail": "An unknown error occurred"})
            elif kind == "CONFLICT":
                self._send(409, {"detail": "The resource was modified by another"})
            elif kind == "LOCKED":
                text = "The operation could not be completed due to a conflict"
                self._send(409, {"detail": text}, {"Retry-After": "1"})
            elif kind == "HANG":
                # Wait until the client disconnects or the test ends.
                fake.released.wait(30)
                self._cut()
            else:
                self._cut()
            return True

        def _cut(self) -> None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

        def _send(
            self, status: int, body: Any, more: Mapping[str, str] | None = None
        ) -> None:
            data = b"" if status in (204, 307) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            if status == 307:
                self.send_header("location", f"{fake.url}{self.path}/")
            if status == 500:
                # uvicorn also closes the connection after a 500.
                self.close_connection = True
            for key, value in (more or {}).items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _do

    return Handler


Handle = Callable[..., Any]
