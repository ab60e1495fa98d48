"""A server from its start to its end: the SDK's client, beyond loopback, traces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.http.serving import ROOT, run_server


# Both eras of all of this toolset's tools: tests/mcp/test_repository_servers.py.
@pytest.mark.parametrize(
    "mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)]
)
async def test_the_sdk_s_client_lists_and_calls(mode: Any) -> None:
    with run_server("--local-tools") as server:
        url = f"http://127.0.0.1:{server.port}/mcp/copilot/"
        async with Client(url, mode=mode) as client:
            listed = await client.list_tools()
            names = [tool.name for tool in listed.tools]
            assert names == ["get_personality", "github_issue"]
            called = await client.call_tool("get_personality", {})
            assert called.is_error is not True


def test_beyond_loopback_it_asks_for_tokens_and_names() -> None:
    tokens = {f"KIRISHIMA_TOKEN_{c}": c for c in ("INTERNAL", "COPILOT", "EXTERNAL")}
    names = {"KIRISHIMA_ALLOWED_HOSTS": "tools.example:80, other.example"}
    words = ("--host", "0.0.0.0", "--local-tools")
    with run_server(*words, env={**tokens, **names}) as server:
        assert server.request("/mcp/", "tools/list").status == 401
        right = server.request("/mcp/", "tools/list", token="INTERNAL")
        assert right.status == 200
        for host, status in (
            ("tools.example:80", 400),
            ("tools.example:81", 421),
            ("other.example:81", 400),
            ("elsewhere.example", 421),
        ):
            headers = {"Host": host, "Authorization": "Bearer INTERNAL"}
            answer = server.send("/mcp/", b"", headers)
            assert answer.status == status
            if status == 421:
                assert b"help: set KIRISHIMA_ALLOWED_HOSTS" in answer.body
        # At most one line a second.
        server.wait_for_log(
            "rejected a request to the host `tools.example:81`; help: if clients use this"
            " host, add it to KIRISHIMA_ALLOWED_HOSTS"
        )


@pytest.mark.rows(1)
@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"KIRISHIMA_TOKEN_COPILOT": " "}, "set KIRISHIMA_TOKEN_INTERNAL, KIRISH"),
        (
            {f"KIRISHIMA_TOKEN_{c}": "5ecret" for c in ("INTERNAL", "COPILOT")},
            "KIRISHIMA_TOKEN_INTERNAL and KIRISHIMA_TOKEN_COPILOT contain the same token",
        ),
        ({"KIRISHIMA_CLIENTS_OVERRIDE": "absent.json"}, "absent.json cannot be read"),
    ],
)
def test_what_cannot_be_served_safely_does_not_start(
    env: dict[str, str], said: str
) -> None:
    words = ["--http", "--port", "0", "--host", "0.0.0.0"]
    ran = subprocess.run(
        [sys.executable, "-m", "generated.kirishima.mcp_server", *words],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
    assert "5ecret" not in ran.stderr


def test_calls_are_spans_where_opentelemetry_is_set_up(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    program = """
import json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
from generated.kirishima.registry import call_tool_sync
call_tool_sync("get_personality", {}, "copilot")
call_tool_sync("memory", {"action": "s3cret"}, "internal")
print(json.dumps([[s.name, dict(s.attributes), s.status.status_code.name]
                  for s in kept.get_finished_spans()]))
"""
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "KIRISHIMA_DATA": str(tmp_path)},
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert "s3cret" not in ran.stdout
    (name, attributes, status), (other, invalid, failed) = json.loads(ran.stdout)
    assert (name, status) == ("execute_tool get_personality", "UNSET")
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_personality",
        "toolcast.client": "copilot",
        "toolcast.outcome": "ok",
    }
    assert (other, failed) == ("execute_tool memory", "ERROR")
    assert invalid["error.type"] == "invalid"


def test_it_tells_where_each_client_is_served_and_who_may_ask() -> None:
    token = {"KIRISHIMA_TOKEN_INTERNAL": "not-to-be-logged"}
    with run_server(env=token) as server:
        server.wait_for_log("serving `external`")
        at = f"http://127.0.0.1:{server.port}/mcp"
        known = (
            f"serving `internal` at {at}/ with the token in KIRISHIMA_TOKEN_INTERNAL"
        )
        assert known in server.log
        assert (
            f"serving `copilot` at {at}/copilot/ without authentication:"
            " KIRISHIMA_TOKEN_COPILOT is not set" in server.log
        )
        assert "not-to-be-logged" not in server.log


def test_it_tells_of_the_one_client_that_it_serves_alone() -> None:
    with run_server("--client", "copilot", "--path", "/tools/") as server:
        server.wait_for_log("serving")
        told = [line for line in server.log.splitlines() if "serving" in line]
        assert len(told) == 1
        url = f"http://127.0.0.1:{server.port}/tools/"
        assert f"serving `copilot` at {url} without authentication" in told[0]
