"""Fixtures for kirishima: environment, tool calls and HTTP servers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.examples.example_specs import call_handler, load_tool_specs
from tests.examples.kirishima.github_server import TOKEN, FakeGitHub

VARIABLES = (
    "KIRISHIMA_DATA KIRISHIMA_TIMEZONE KIRISHIMA_STYLE_GUIDE GITHUB_TOKEN GITHUB_API_URL "
    "GITHUB_REPOSITORY HOME_ASSISTANT_URL HOME_ASSISTANT_TOKEN HTTP_PROXY HTTPS_PROXY "
    "ALL_PROXY http_proxy https_proxy all_proxy"
).split()

Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset the handlers' environment variables; store data below tmp_path."""
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("KIRISHIMA_DATA", str(tmp_path / "data"))


@pytest.fixture
def specs() -> Mapping[str, Any]:
    """Return all tool specs of the toolset by name."""
    return load_tool_specs("kirishima")


@pytest.fixture
def call(specs: Mapping[str, Any]) -> Call:
    """Return a function that calls a handler and validates arguments and result."""
    return lambda tool, **arguments: call_handler(specs[tool], arguments)


@dataclass(frozen=True)
class Request:
    """A request that the server received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True)
class Reply:
    """A response of the server; a string is sent unchanged, other bodies as JSON."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Server:
    """A running server and the requests that it received."""

    url: str
    requests: list[Request] = field(default_factory=list)


Serve = Callable[[Callable[[Request], Reply]], Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Yield a function that serves the responses of its argument over HTTP."""
    running: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(answer: Callable[[Request], Reply]) -> Server:
        server = Server("")

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("content-length", 0))
                body = self.rfile.read(length)
                parts = urlsplit(self.path)
                request = Request(
                    method=self.command,
                    path=parts.path,
                    query={
                        key: value[0] for key, value in parse_qs(parts.query).items()
                    },
                    headers={key.lower(): value for key, value in self.headers.items()},
                    body=json.loads(body) if body else None,
                )
                server.requests.append(request)
                reply = answer(request)
                is_string = isinstance(reply.body, str)
                payload = reply.body if is_string else json.dumps(reply.body)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(payload.encode())

            do_GET = do_POST = do_PATCH = answer

            def log_message(self, format: str, *args: Any) -> None:
                """Print no requests."""

        listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(
            target=listener.serve_forever, kwargs={"poll_interval": 0.01}
        )
        thread.start()
        running.append((listener, thread))
        server.url = f"http://127.0.0.1:{listener.server_port}"
        return server

    yield start
    for listener, thread in running:
        listener.shutdown()
        listener.server_close()
        thread.join()


@pytest.fixture
def reply() -> type[Reply]:
    """Return the class `Reply`."""
    return Reply


@pytest.fixture
def configure_github(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that sets the GitHub variables for a server's URL."""

    def configure(url: str) -> None:
        monkeypatch.setenv("GITHUB_API_URL", url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        monkeypatch.setenv("GITHUB_REPOSITORY", "robin/kirishima")

    return configure


@pytest.fixture
def github(reply: Any) -> FakeGitHub:
    """Return the issues of a fake GitHub."""
    return FakeGitHub(reply)


@pytest.fixture
def server(serve: Any, github: FakeGitHub, configure_github: Any) -> Any:
    """Serve a fake GitHub and set the GitHub variables for it."""
    running = serve(github)
    github.url = running.url
    configure_github(running.url)
    return running
