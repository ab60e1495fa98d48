"""A configurable MCP server over HTTP, in a thread of the test.

Its replies are minimal forms of public reports about proxied servers.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple

TOOL = {"name": "fetch", "description": "Fetch.", "inputSchema": {"type": "object"}}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "upstream", "version": "1"},
    "ttlMs": 0,
    "cacheScope": "private",
}


class Reply(NamedTuple):
    """An HTTP response."""

    status: int
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class Upstream(ThreadingHTTPServer):
    """The server; tests change its attributes while it runs.

    Attributes:
        is_modern: whether it serves MCP 2026-07-28 instead of 2025-11-25.
        token: the only valid bearer token; empty if none is needed.
        sessions: the valid session ids.
        unknown_session: the reply to another session id; "ID" stands for the request's id.
        replies: replies to the next calls, instead of a result.
        ends_sessions: whether all sessions end with such a reply.
        result: the result of a call.
        can_answer: clear while calls wait.
        calls: the number of calls that ran.
        requests: the methods of all requests, with the token of each.
    """

    daemon_threads = True
    # With the default of 5, some of ten parallel connections wait a second.
    request_queue_size = 20

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.is_modern = False
        self.token = ""
        self.sessions: set[str] = set()
        self.unknown_session = make_session_error(404)
        self.replies: list[Reply] = []
        self.ends_sessions = False
        self.result: dict[str, Any] = {"content": [{"type": "text", "text": "hello"}]}
        self.can_answer = Event()
        self.can_answer.set()
        self.calls = 0
        self.requests: list[tuple[str, str]] = []
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


def make_session_error(
    status: int, code: int = -32001, text: str = "Session not found"
) -> Reply:
    """Return the reply of official servers to an unknown session id."""
    error = {"code": code, "message": text}
    body = {"jsonrpc": "2.0", "id": "ID" if status == 200 else None, "error": error}
    return Reply(status, json.dumps(body))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Upstream

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, request_id = message.get("method", ""), message.get("id")
        server = self.server
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        server.requests.append((method, token))
        if server.token and token != server.token:
            challenge = ("WWW-Authenticate", 'Bearer error="invalid_token"')
            return self._send(Reply(401, "", (challenge,)))
        if method == "server/discover" and server.is_modern:
            return self._answer(request_id, DISCOVERED)
        if method == "initialize":
            session = f"session-{len(server.requests)}"
            server.sessions.add(session)
            server_info = {"name": "upstream", "version": "1"}
            version = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            result = {**version, "serverInfo": server_info}
            return self._answer(request_id, result, (("Mcp-Session-Id", session),))
        is_known = self.headers.get("mcp-session-id") in server.sessions
        if not server.is_modern and method != "server/discover" and not is_known:
            reply = server.unknown_session
            body = reply.body.replace('"ID"', json.dumps(request_id))
            return self._send(reply._replace(body=body))
        if request_id is None:
            return self._send(Reply(202))
        if method == "tools/list":
            fields = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
            return self._answer(
                request_id, {**(fields if server.is_modern else {}), "tools": [TOOL]}
            )
        if method == "ping":
            return self._answer(request_id, {})
        if method == "tools/call":
            server.can_answer.wait()
            if server.replies:
                reply = server.replies.pop(0)
                if server.ends_sessions:
                    server.sessions.clear()
                body = reply.body.replace('"ID"', json.dumps(request_id))
                return self._send(reply._replace(body=body))
            server.calls += 1
            kind = {"resultType": "complete"} if server.is_modern else {}
            return self._answer(request_id, {**kind, **server.result})
        error = {"code": -32601, "message": f"no {method}"}
        body = json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error})
        return self._send(Reply(200, body))

    def _answer(
        self, request_id: Any, result: Any, headers: tuple[tuple[str, str], ...] = ()
    ) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": request_id, "result": result})
        self._send(Reply(200, body, headers))

    def _send(self, reply: Reply) -> None:
        body = reply.body.encode()
        self.send_response(reply.status)
        if not any(name == "Content-Type" for name, _ in reply.headers):
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._send(Reply(405))

    def do_DELETE(self) -> None:
        self._send(Reply(200))

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
