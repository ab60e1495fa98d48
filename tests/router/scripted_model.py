"""Run a model API on loopback with scripted responses that records its requests."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.thread_server import serve_in_threads
from toolcast_runtime.router import Router
from toolcast_runtime.router.router import ChatModel

__all__ = ["ScriptedModel", "encode_completion", "run_scripted_model"]


def encode_completion(content: Any) -> bytes:
    """Return the body of a chat completion with this content."""
    message = {"role": "assistant", "content": content}
    return json.dumps({"choices": [{"message": message}]}).encode()


class ScriptedModel:
    """The response of the model, and the bodies and headers of its requests."""

    def __init__(self) -> None:
        self.body = encode_completion('{"tools": ["lamp"]}')
        self.status = 200
        self.delay = 0.0
        self.requests: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.url = ""

    def make_router(self, **options: Any) -> Router:
        """Return a router that uses this model."""
        options = {"timeout": 60.0, **options}
        return Router(ChatModel(self.url, "small", **options))


@contextlib.contextmanager
def run_scripted_model() -> Iterator[ScriptedModel]:
    """Start the model; stop it on exit."""
    state = ScriptedModel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            body = json.loads(self.rfile.read(length))
            headers = {k.lower(): v for k, v in self.headers.items()}
            state.requests.append((body, {**headers, "path": self.path}))
            time.sleep(state.delay)
            self.send_response(state.status)
            self.end_headers()
            try:
                self.wfile.write(state.body)
            except OSError:
                return

    with serve_in_threads(Handler) as url:
        state.url = f"{url}/v1"
        yield state
