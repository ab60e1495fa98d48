"""Three replicas on PostgreSQL behind HAProxy, deployed by the files for users.

One replica is killed and one is stopped while clients of both protocol generations
call: each answer is recorded once, a stopped replica finishes its calls, and a kill
affects only its own running calls.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult

from tests.commands.run_module import run
from tests.deployment.deployed import (
    ROOT,
    DeployedImage,
    find_shell_block,
    run_balancer,
    run_replica,
)
from tests.deployment.load import keep_calling
from tests.packaging.environments import build
from tests.ports import find_free_port
from tests.postgres import postgres_server

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("TOOLCAST_TEST_POSTGRES"), reason="make test-postgres"
    ),
    pytest.mark.timeout(300),
]

MODES = ("legacy", "2026-07-28")
CLIENTS = 16
WORK = """
name: work
summary: Works for a while.
when_to_use: {text: null, reason: Only the test calls this tool.}
parameters:
  type: object
  properties:
    number: { type: string, description: Which one it is. }
    seconds: { type: number, description: How long it takes. }
  required: [number, seconds]
  additionalProperties: false
handler: handlers.work:work
persistent: true
cli: { keyword: work }
"""
REMOVE = """
name: remove
summary: Removes a thing.
when_to_use: {text: null, reason: Only the test calls this tool.}
parameters:
  type: object
  properties:
    name: { type: string, description: What is removed. }
  required: [name]
  additionalProperties: false
handler: handlers.work:remove
confirm:
  message: Remove it?
cli: { keyword: remove }
"""
CONNECTIONS = (
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'toolcast ledger'"
)
HANDLER = '''
import asyncio
import os


async def work(*, number: str, seconds: float) -> dict[str, object]:
    """Works for a while, and says which process did."""
    await asyncio.sleep(seconds)
    return {"number": number, "process": os.getpid()}


def remove(*, name: str) -> str:
    return name
'''


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prepare a new project and its deployment files as the documentation describes."""
    folder = tmp_path_factory.mktemp("demo")
    run(folder, "toolcast", "init", "--name", "demo")
    specs = folder / "specs" / "demo"
    (specs / "work.yaml").write_text(WORK, encoding="utf-8")
    (specs / "remove.yaml").write_text(REMOVE, encoding="utf-8")
    (folder / "handlers" / "work.py").write_text(HANDLER, encoding="utf-8")
    toolset = (specs / "toolset.yaml").read_text(encoding="utf-8")
    toolset = toolset.replace(
        "  mcp: {}", "  mcp: { state_key_variable: DEMO_STATE_KEY }"
    )
    (specs / "toolset.yaml").write_text(toolset, encoding="utf-8")
    run(folder, "toolcast", "generate")
    run(folder, "toolcast", "init", "--deployment")
    commands = find_shell_block("mkdir -m 700 secrets")
    subprocess.run(["sh", "-eu", "-c", commands], cwd=folder, check=True)
    return folder


@pytest.fixture(scope="module")
def deployed_image(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> DeployedImage:
    wheels = tmp_path_factory.mktemp("wheels")
    build(ROOT / "runtime", wheels)
    return DeployedImage(project, tmp_path_factory.mktemp("image"), wheels)


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with postgres_server("ledger") as urls:
        yield urls["ledger"]


@dataclass
class Load:
    """Answers to the clients' calls, by the number of the call.

    Attributes:
        answered: the process that answered, and the time.
        failed: the time at which a call failed.
    """

    url: str
    token: str
    answered: dict[str, tuple[int, float]] = field(default_factory=dict)
    failed: dict[str, float] = field(default_factory=dict)
    is_over: bool = False

    async def run_client(self, number: int) -> None:
        """Send one call after the other with the SDK's client until the load is over."""
        numbers = itertools.count(1)

        async def call(client: Client) -> None:
            await self._call(client, f"{number}-{next(numbers)}")

        await keep_calling(
            f"{self.url}/mcp/",
            {"Authorization": f"Bearer {self.token}"},
            call,
            lambda: self.is_over,
            mode=MODES[number % 2],
        )

    async def _call(self, client: Client, number: str) -> None:
        arguments = {"number": number, "seconds": 0.05 * (len(self.answered) % 8)}
        try:
            result = await client.call_tool("work", arguments)
            assert not result.is_error, result
            response = json.loads(getattr(result.content[0], "text", ""))
        except BaseException:
            self.failed[number] = time.monotonic()
            raise
        assert response["number"] == number
        self.answered[number] = response["process"], time.monotonic()


@pytest.fixture
def environment(project: Path, database: str, tmp_path: Path) -> dict[str, str]:
    """Return the environment of compose.yaml, with secrets in a temporary folder."""
    compose = yaml.safe_load((project / "compose.yaml").read_text(encoding="utf-8"))
    secrets = shutil.copytree(project / "secrets", tmp_path / "secrets")
    (secrets / "ledger_url").write_text(database, encoding="utf-8")
    return {
        name: re.sub(r"\$\{\w+:-(.*?)\}", r"\1", value)
        .replace("/run/secrets", str(secrets))
        .replace("localhost:8080", "127.0.0.1")
        for name, value in compose["services"]["tools"]["environment"].items()
    }


def query_database(url: str, statement: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement.encode()).fetchall()


async def test_replicas_on_postgresql_record_each_answered_call_once_while_two_stop(
    deployed_image: DeployedImage,
    project: Path,
    database: str,
    environment: dict[str, str],
    tmp_path: Path,
) -> None:
    ports = [find_free_port() for _ in range(3)]
    logs = [tmp_path / f"{port}.log" for port in ports]
    token = (project / "secrets" / "token").read_text(encoding="utf-8").strip()
    before = deployed_image.list_modification_times()
    with ExitStack() as stack:
        killed, ended, stays = (
            stack.enter_context(run_replica(deployed_image, port, environment, log))
            for port, log in zip(ports, logs, strict=True)
        )
        url = stack.enter_context(
            run_balancer(project / "haproxy.cfg", ports, tmp_path)
        )
        assert run_health_check(deployed_image, ports[0])
        load = Load(url, token)
        clients = [asyncio.create_task(load.run_client(n)) for n in range(CLIENTS)]
        await asyncio.sleep(3)
        at_kill = time.monotonic()
        killed.send_signal(signal.SIGKILL)
        await asyncio.sleep(3)
        assert not run_health_check(deployed_image, ports[0])
        at_end = time.monotonic()
        ended.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(ended.wait, 25) == 0
        await asyncio.sleep(2)
        load.is_over = True
        await asyncio.gather(*clients)
        stays.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(stays.wait, 25) == 0

    rows: dict[str, list[tuple[str, Any]]] = {}
    for arguments, outcome, result in query_database(
        database, "SELECT arguments, outcome, result FROM calls"
    ):
        pid = json.loads(result)["process"] if result else None
        rows.setdefault(json.loads(arguments)["number"], []).append((outcome, pid))
    # Each answered call has one row, and no call has two.
    assert {n: rows.get(n) for n in load.answered} == {
        n: [("ok", process)] for n, (process, _) in load.answered.items()
    }
    assert [n for n, of_one in rows.items() if len(of_one) > 1] == []
    unfinished = {n for n, [(outcome, _)] in rows.items() if outcome == "started"}
    assert unfinished <= set(load.failed)
    # Only calls in the killed process fail; the stopped process fails none.
    assert 0 < len(load.failed) < CLIENTS
    assert {
        n for n, when in load.failed.items() if not 0 <= when - at_kill < 2
    } == set()
    by: dict[int, list[float]] = {p.pid: [] for p in (killed, ended, stays)}
    for process, when in load.answered.values():
        by[process].append(when)
    assert all(len(times) > 20 for times in by.values())
    assert max(by[killed.pid]) < at_kill + 0.5
    assert at_end < max(by[ended.pid]) < max(by[stays.pid])
    eras = {int(number.partition("-")[0]) % len(MODES) for number in load.answered}
    assert eras == set(range(len(MODES)))
    # All connections are closed, no file is written, and the logs have no error.
    assert query_database(database, CONNECTIONS) == [(0,)]
    assert deployed_image.list_modification_times() == before
    texts = [log.read_text(encoding="utf-8") for log in logs]
    assert not re.search(r"ERROR|Traceback", "".join(texts))
    secrets = [p.read_text(encoding="utf-8") for p in (project / "secrets").iterdir()]
    assert not [s for s in secrets if s.strip() in "".join(texts)]
    assert all(json.loads(line) for text in texts for line in text.splitlines())


def run_health_check(deployed_image: DeployedImage, port: int) -> bool:
    """Return whether the image's health check succeeds."""
    command = [
        w.replace(":8000", f":{port}")
        for w in deployed_image.get_arguments("HEALTHCHECK")
    ]
    return subprocess.run(command, capture_output=True).returncode == 0


async def test_confirmation_answered_at_another_replica_runs_the_call_once(
    deployed_image: DeployedImage,
    environment: dict[str, str],
    database: str,
    tmp_path: Path,
) -> None:
    headers = {
        "Authorization": f"Bearer {Path(environment['DEMO_TOKEN_FILE']).read_text().strip()}"
    }
    questions: list[str] = []

    async def answer_question(context: Any, params: Any) -> ElicitResult:
        questions.append(params.message)
        return ElicitResult(action="accept", content={"approve": True})

    ports = [find_free_port() for _ in range(2)]
    with ExitStack() as stack:
        for port in ports:
            log = tmp_path / f"{port}.log"
            stack.enter_context(run_replica(deployed_image, port, environment, log))
        turns = itertools.cycle(ports)

        async def send_to_next_replica(request: httpx2.Request) -> None:
            request.url = request.url.copy_with(port=next(turns))

        async with (
            httpx2.AsyncClient(
                headers=headers, event_hooks={"request": [send_to_next_replica]}
            ) as http,
            Client(
                streamable_http_client("http://127.0.0.1/mcp/", http_client=http),
                mode=MODES[1],
                elicitation_callback=answer_question,
            ) as client,
        ):
            for _ in range(3):
                result = await client.call_tool("remove", {"name": "tea"})
                assert not result.is_error, result
    assert len(questions) == 3
    approvals = "SELECT action, taken IS NOT NULL FROM approvals"
    assert query_database(database, approvals) == [("accept", True)] * 3
