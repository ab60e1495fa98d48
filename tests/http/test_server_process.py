"""A generated HTTP server process: SDK client, public addresses, startup log, traces."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client

from tests.forked_servers import run
from tests.http.serving import ROOT, run_server


# tests/mcp/test_repository_servers.py calls every tool in both protocol eras.
async def test_mcp_sdk_client_lists_and_calls_tools_at_a_client_endpoint() -> None:
    with run_server("--local-tools") as server:
        url = f"http://127.0.0.1:{server.port}/mcp/copilot/"
        async with Client(url) as client:
            listed = await client.list_tools()
            names = [tool.name for tool in listed.tools]
            assert names == ["get_personality", "github_issue"]
            called = await client.call_tool("get_personality", {})
            assert called.is_error is not True


def test_http_server_on_all_addresses_requires_tokens_and_allowed_hosts() -> None:
    tokens = {f"KIRISHIMA_TOKEN_{c}": c for c in ("INTERNAL", "COPILOT", "EXTERNAL")}
    names = {"KIRISHIMA_ALLOWED_HOSTS": "tools.example:80, other.example"}
    options = ("--host", "0.0.0.0", "--local-tools")
    with run_server(*options, env={**tokens, **names}) as server:
        assert server.request("/mcp/", "tools/list").status == 401
        authorized = server.request("/mcp/", "tools/list", token="INTERNAL")
        assert authorized.status == 200
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
        # The log has at most one such line a second.
        server.wait_for_log(
            "rejected a request to the host `tools.example:81`; help: if clients use this"
            " host, add it to KIRISHIMA_ALLOWED_HOSTS"
        )


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        (
            {f"KIRISHIMA_TOKEN_{c}": "5ecret" for c in ("INTERNAL", "COPILOT")},
            "KIRISHIMA_TOKEN_INTERNAL and KIRISHIMA_TOKEN_COPILOT contain the same token",
        ),
        ({"KIRISHIMA_CLIENTS_OVERRIDE": "absent.json"}, "absent.json cannot be read"),
    ],
)
def test_http_server_with_equal_tokens_or_unreadable_override_file_does_not_start(
    variables: dict[str, str], problem: str
) -> None:
    """No token is printed."""
    options = ["--http", "--port", "0", "--host", "0.0.0.0"]
    env = {**os.environ, **variables}
    done = run(ROOT, "generated.kirishima.mcp_server", *options, env=env, input=b"")
    log = done.stderr.decode()
    assert done.returncode == 2 and problem in log
    assert "Traceback" not in log and "5ecret" not in log


def test_each_tool_call_is_an_opentelemetry_span_without_arguments(
    tmp_path: Path,
) -> None:
    """Spans have the tool, client and outcome; an invalid call has the status ERROR."""
    pytest.importorskip("opentelemetry.sdk")
    program = """
import json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)
from generated.kirishima.registry import call_tool_sync
call_tool_sync("get_personality", {}, "copilot")
call_tool_sync("memory", {"action": "s3cret"}, "internal")
print(json.dumps([[s.name, dict(s.attributes), s.status.status_code.name]
                  for s in exporter.get_finished_spans()]))
"""
    process = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "KIRISHIMA_DATA": str(tmp_path)},
    )
    assert process.returncode == 0, process.stderr
    assert "s3cret" not in process.stdout
    (name, attributes, status), (other, invalid, failed) = json.loads(process.stdout)
    assert (name, status) == ("execute_tool get_personality", "UNSET")
    assert attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_personality",
        "toolcast.client": "copilot",
        "toolcast.outcome": "ok",
    }
    assert (other, failed) == ("execute_tool memory", "ERROR")
    assert invalid["error.type"] == "invalid"


def test_http_server_for_one_client_logs_only_its_endpoint_at_startup() -> None:
    with run_server("--client", "copilot", "--path", "/tools/") as server:
        server.wait_for_log("serving")
        lines = [line for line in server.log.splitlines() if "serving" in line]
        assert len(lines) == 1
        url = f"http://127.0.0.1:{server.port}/tools/"
        assert f"serving `copilot` at {url} without authentication" in lines[0]
