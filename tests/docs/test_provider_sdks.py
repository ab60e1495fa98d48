"""Examples in docs/provider-sdks.md, run with the real SDKs and a scripted provider."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.docs.page_steps import follow_page
from tests.thread_server import serve_in_threads

PAGE = (Path(__file__).parents[2] / "docs/provider-sdks.md").read_text("utf-8")
ARGUMENTS = {"text": "a rose is a rose"}
ANSWER = "It has 5 words."

# For each endpoint: the response that calls the tool, and the response that ends the loop.
SCRIPTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "/responses": tuple(
        {"id": "r", "object": "response", "output": [item]}
        for item in (
            {
                "type": "function_call",
                "id": "fc",
                "call_id": "c1",
                "name": "count_words",
                "arguments": json.dumps(ARGUMENTS),
            },
            {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
            },
        )
    ),
    "/chat/completions": tuple(
        {"id": "r", "choices": [{"index": 0, "message": message}]}
        for message in (
            {
                "role": "assistant",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {
                            "name": "count_words",
                            "arguments": json.dumps(ARGUMENTS),
                        },
                    }
                ],
            },
            {"role": "assistant", "content": ANSWER},
        )
    ),
    "/v1/messages": tuple(
        {
            "id": "r",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [block],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        for block in (
            {
                "type": "tool_use",
                "id": "c1",
                "name": "count_words",
                "input": ARGUMENTS,
            },
            {"type": "text", "text": ANSWER},
        )
    ),
    ":generateContent": tuple(
        {"candidates": [{"content": {"role": "model", "parts": [part]}}]}
        for part in (
            {"functionCall": {"id": "c1", "name": "count_words", "args": ARGUMENTS}},
            {"text": ANSWER},
        )
    ),
}


@pytest.fixture
def provider() -> Iterator[tuple[str, dict[str, list[str]]]]:
    """Serve scripted responses; yield the URL and the request bodies by endpoint."""
    received: dict[str, list[str]] = {name: [] for name in SCRIPTS}

    class Provider(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            path = self.path.partition("?")[0]
            endpoint = next(name for name in SCRIPTS if path.endswith(name))
            received[endpoint].append(body.decode())
            response = SCRIPTS[endpoint][len(received[endpoint]) - 1]
            content = json.dumps(response).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    with serve_in_threads(Provider) as url:
        yield url, received


@pytest.mark.slow
def test_each_model_provider_sdk_docs_example_sends_the_tool_and_its_result(
    provider: tuple[str, dict[str, list[str]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first request has the tool definition, the second has the result of the call."""
    url, received = provider
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE_GEMINI"):
        monkeypatch.setenv(f"{name}_BASE_URL", url)
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", "none")
    assert follow_page(PAGE, tmp_path) == len(re.findall(r"^```sh$", PAGE, re.M)) - 1
    for endpoint, (first, second) in received.items():
        assert "Count the words, lines and characters" in first, endpoint
        assert re.search(r'\\?"words\\?": ?5', second), endpoint
