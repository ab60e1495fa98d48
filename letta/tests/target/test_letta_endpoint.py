"""The generated server's sync endpoint and synchronization at startup, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from letta.tests.toy import TOOLS, TOOLSET
from tests.http.serving import Server, run_server
from tests.ports import reserve_port

ADMIN = {"TOY_ADMIN_TOKEN": "adm1n-token"}
PATH = "/api/admin/sync-mcp-tools"


@contextmanager
def run_toy(toy: Any, port: int, **environment: str) -> Iterator[Server]:
    with run_server(
        "--port",
        str(port),
        package="generated.toy",
        root=toy.project.root,
        env={**ADMIN, **environment},
    ) as server:
        yield server


def sync(server: Server, **body: Any) -> httpx.Response:
    """Send a request to the sync endpoint."""
    return httpx.post(
        f"http://127.0.0.1:{server.port}{PATH}",
        headers={"Authorization": "Bearer adm1n-token"},
        json=body,
        timeout=60,
    )


@pytest.fixture
def port() -> Iterator[int]:
    with reserve_port() as number:
        yield number


def make_deployed_toy(
    make_toy: Any, port: int, more: str = ""
) -> tuple[Any, dict[str, str]]:
    """Return a toy whose MCP server is the generated one, and its environment."""
    toolset = TOOLSET.replace("mcp.test", f"127.0.0.1:{port}")
    toolset = toolset.replace(", token_env: TOY_MCP_TOKEN", "")
    toolset = toolset.replace("letta:\n  server", f"letta:\n{more}  server")
    toy = make_toy(TOOLS, toolset)
    toy.project.generate()
    environment = {
        "LETTA_BASE_URL": toy.fake.url,
        "TOY_AGENT_ID": toy.agent_id,
        "TOOLCAST_LETTA_STATE": str(toy.state),
    }
    return toy, environment


def test_letta_sync_route_plans_applies_and_answers_errors_over_http(
    make_toy: Any, port: int
) -> None:
    """Handle `POST /api/admin/sync-mcp-tools`, a route of generated MCP servers."""
    toy, environment = make_deployed_toy(make_toy, port)
    with run_toy(toy, port, **environment) as server:
        unknown = httpx.post(f"http://127.0.0.1:{port}{PATH}", timeout=10)
        assert unknown.status_code == 401
        assert toy.fake.faults.seen == []

        planned = sync(server, dry_run=True)
        assert planned.status_code == 200
        assert len(planned.json()["changes"]) == 14
        assert "search_notes" not in toy.names()

        done = sync(server)
        assert done.status_code == 200, done.text
        assert done.json() == {
            "tools": 9,
            "rules": 10,
            "changed": True,
            "missed": [],
            "missing": [],
            "warnings": [
                "keeper, a memgpt_v2_agent, ends its turn after tools that have no "
                "rule to continue: `their_tool`; applying does not change the rules "
                "of other owners' tools"
            ],
        }
        server.wait_for_log("tools+rules synced - 9 tools, 10 rules")
        assert set(toy.names()) > {"search_notes", "delete_note", "end_day"}
        assert sync(server).json()["changed"] is False

        from toolcast_letta.plan.verification import verify

        desired = toy.desired()
        found = verify(toy.backend(), desired)
        assert found.all_match, found.to_json()
        assert [trial.tool for trial in found.checks if trial.passed] == [
            "search_notes"
        ]

        for body, message in (
            ({"dry_run": 1}, "`dry_run` must be a boolean"),
            ({"allow": []}, "`allow` is not a known key"),
            ({"drop_stale": "x"}, "`drop_stale` must be an array of strings"),
        ):
            wrong = sync(server, **body)
            assert (wrong.status_code, message in wrong.json()["error"]) == (400, True)

        toy.world.version = "9.9.9"
        refused = sync(server)
        assert refused.status_code == 409
        assert refused.json()["blockers"][0]["code"] == "version"
        toy.fake.__exit__(None, None, None)
        assert sync(server).status_code == 502


def test_letta_sync_route_without_letta_base_url_answers_503(
    make_toy: Any, port: int
) -> None:
    toy, environment = make_deployed_toy(make_toy, port)
    del environment["LETTA_BASE_URL"]
    with run_toy(toy, port, **environment) as server:
        answer = sync(server)
    assert answer.status_code == 503
    assert answer.json() == {
        "error": "the URL of Letta is not set: set the environment variable LETTA_BASE_URL"
    }


def test_generated_server_startup_attaches_missing_letta_tools_but_removes_nothing(
    make_toy: Any, port: int
) -> None:
    toy, environment = make_deployed_toy(make_toy, port, "  on_start: true\n")
    with run_toy(toy, port, **environment) as server:
        server.wait_for_log("tools+rules synced - 9 tools, 10 rules")
    assert set(toy.names()) > {"search_notes", "delete_note", "end_day"}

    # Startup removes nothing; a removal needs a reviewed plan.
    agent = toy.world.agents[toy.agent_id]
    toy.world.attach(agent, toy.world.find_tool("run_code"))
    with run_toy(toy, port, **environment) as server:
        server.wait_for_log(
            "the plan removes something; review it with: toolcast letta plan"
        )
    assert "run_code" in toy.names()


def test_generated_server_startup_retries_letta_synchronization_until_the_timeout(
    make_toy: Any, port: int
) -> None:
    settings = "  on_start: true\n  on_start_timeout_s: 3\n"
    toy, environment = make_deployed_toy(make_toy, port, settings)
    toy.fake.__exit__(None, None, None)
    with run_toy(toy, port, **environment) as server:
        server.wait_for_log(
            "was not synchronized within 3 seconds; run: toolcast letta apply"
        )
        failed = [
            line for line in server.log.splitlines() if "no response from" in line
        ]
    assert len(failed) == 2, "after one second and at the end"


def test_generated_server_startup_logs_missing_letta_core_memory_tools(
    make_toy: Any, port: int
) -> None:
    toy, environment = make_deployed_toy(make_toy, port, "  on_start: true\n")
    lost = toy.world.find_tool("memory_insert")
    toy.world.agents[toy.agent_id].tool_ids.remove(lost.id)
    with run_toy(toy, port, **environment) as server:
        server.wait_for_log("missing: keeper has no `memory_insert`")
