"""An OpenAI-compatible model server on loopback that answers as tests script it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.thread_server import serve_in_threads

__all__ = ["ScriptedModel", "scripted_model"]


@dataclass
class ScriptedModel:
    """The scripted answers of the model, and its received requests.

    Attributes:
        url: its base URL, which ends with /v1.
        script: the next answers, first to last: `{"text": ...}` or `{"tool": ...,
            "arguments": {...}}`.
        requests: the body of every requested chat completion.
    """

    url: str = ""
    script: list[Mapping[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def llm_config(self) -> dict[str, Any]:
        """The configuration with which a Letta agent uses the model."""
        return {
            "model": "scripted",
            "model_endpoint_type": "openai",
            "model_endpoint": self.url,
            "context_window": 32000,
        }

    def list_offered_tools(self, request: int = -1) -> list[str]:
        """Return the names of the tools in a request to the model."""
        tools = self.requests[request].get("tools") or []
        return sorted(tool["function"]["name"] for tool in tools)


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """Start the server on a free loopback port; HTTP/1.0 closes each connection."""
    model = ScriptedModel()
    numbers = itertools.count(1)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            request_body = json.loads(self.rfile.read(length))
            if not self.path.endswith("/chat/completions"):
                self._send(404, {"error": {"message": f"no {self.path}"}})
                return
            model.requests.append(request_body)
            if not model.script:
                self._send(400, {"error": {"message": "the script is at its end"}})
                return
            answer = model.script.pop(0)
            self._send(200, _completion(answer, next(numbers)))

        def _send(self, status: int, body: Mapping[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with serve_in_threads(Handler) as url:
        model.url = f"{url}/v1"
        yield model


def _completion(answer: Mapping[str, Any], number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.get("text")}
    if "tool" in answer:
        function = {
            "name": answer["tool"],
            "arguments": json.dumps(answer.get("arguments", {})),
        }
        call = {"id": f"call_{number}", "type": "function", "function": function}
        message["tool_calls"] = [call]
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if "tool" in answer else "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
