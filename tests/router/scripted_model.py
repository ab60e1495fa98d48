"""A scripted model on loopback: what it is asked, and what it answers."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from toolcast_runtime.router import Router
from toolcast_runtime.router.router import ChatModel

__all__ = ["Script", "completion", "scripted"]


def completion(content: Any) -> bytes:
    message = {"role": "assistant", "content": content}
    return json.dumps({"choices": [{"message": message}]}).encode()


class Script:
    """What the model answers, and what it was asked."""

    def __init__(self) -> None:
        self.body = completion('{"tools": ["lamp"]}')
        self.status = 200
        self.delay = 0.0
        self.asked: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.url = ""

    def router(self, **options: Any) -> Router:
        given: dict[str, Any] = {"timeout": 10.0, **options}
        return Router(ChatModel(self.url, "small", **given))


@contextlib.contextmanager
def scripted() -> Iterator[Script]:
    """The model, while it answers."""
    state = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            asked = json.loads(self.rfile.read(length))
            headers = {k.lower(): v for k, v in self.headers.items()}
            state.asked.append((asked, {**headers, "path": self.path}))
            time.sleep(state.delay)
            self.send_response(state.status)
            self.end_headers()
            try:
                self.wfile.write(state.body)
            except OSError:
                return

        def log_message(self, format: str, *args: Any) -> None:
            """Keeps the test's output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        listener.daemon_threads = True
        threading.Thread(
            target=listener.serve_forever, args=(0.01,), daemon=True
        ).start()
        state.url = f"http://127.0.0.1:{listener.server_port}/v1"
        yield state
        listener.shutdown()
