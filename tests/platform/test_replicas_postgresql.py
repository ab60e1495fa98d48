"""The clinic's `practice`, deployed by its Dockerfile: three replicas on PostgreSQL.

Users who have logged in call tools in both protocol generations while one replica is
killed and one is stopped: no user is confused with another, and each answered call is
done and recorded once.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from mcp import Client

from tests.deployment.deployed import (
    FILES,
    ROOT,
    DeployedImage,
    run_balancer,
    run_replica,
)
from tests.deployment.load import keep_calling
from tests.packaging.environments import build
from tests.platform.clinic_runs import MONDAY, PATIENT, Clinic
from tests.platform.logins import PEOPLE, Logins, start_logins
from tests.platform.test_clients import AutomaticUser
from tests.ports import find_free_port

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("TOOLCAST_TEST_POSTGRES"), reason="make test-postgres"
    ),
    pytest.mark.timeout(300),
]

MODES = ("legacy", "2026-07-28")
CLIENTS = [(user, mode) for user in PEOPLE for mode in MODES] * 2
EXPORT = {"first": MONDAY, "last": "2026-11-26"}
CENT = {"visit_id": 1, "amount": {"cents": 1, "currency": "EUR"}}
FIRST = datetime(2027, 1, 1, tzinfo=UTC)


@dataclass
class Load:
    """Answers to the users' calls.

    Attributes:
        answered: the number of answers per user and tool.
        failed: user, tool and time of each failed call.
        booked: the times of the visits whose booking was answered.
        wrong: answers that belong to another user.
    """

    url: str
    people: Logins
    answered: Counter[tuple[str, str]] = field(default_factory=Counter)
    failed: list[tuple[str, str, float]] = field(default_factory=list)
    booked: list[str] = field(default_factory=list)
    wrong: list[Any] = field(default_factory=list)
    is_over: bool = False
    _times: Any = field(default_factory=itertools.count)

    async def run_user(self, user: str, mode: str) -> None:
        """Call `whoami` and a tool of the user's own in turns."""
        turns = itertools.cycle(["whoami", self._own(user, mode)])

        async def call(client: Client) -> None:
            tool = next(turns)
            arguments = self._arguments(tool)
            try:
                result = await client.call_tool(tool, arguments)
            except BaseException:
                self.failed.append((user, tool, time.monotonic()))
                raise
            self.answered[user, tool] += 1
            content = result.structured_content
            if tool == "whoami":
                right = content == {
                    "user": user,
                    "name": PEOPLE[user]["name"],
                    "ward": None,
                }
            else:
                right = result.is_error is (user == "eve")
            if tool == "book_visit":
                self.booked.append(arguments["start"])
            if not right:
                self.wrong.append((user, mode, tool, result))

        await keep_calling(
            f"{self.url}{self.people.path(user)}",
            self.people.headers(user, exp=int(time.time()) + 3600),
            call,
            lambda: self.is_over,
            mode=mode,
            elicitation_callback=AutomaticUser(),
        )

    def _own(self, user: str, mode: str) -> str:
        if user in ("ada", "eve"):
            return "my_visits"
        # Replicas confirm only in the stateless version: a session belongs to one process.
        own = {"mia": "book_visit", "ann": "export_visits", "ben": "refund_visit"}
        return "search_visits" if (user, mode) == ("ben", MODES[0]) else own[user]

    def _arguments(self, tool: str) -> dict[str, Any]:
        if tool == "book_visit":
            start = FIRST + timedelta(minutes=next(self._times))
            return {"patient_id": str(PATIENT), "start": start.isoformat()}
        return {"export_visits": EXPORT, "refund_visit": CENT}.get(tool, {})


@pytest.mark.parametrize("clinic", ["postgresql"], indirect=True)
async def test_each_answered_call_is_recorded_once_for_its_user_while_mcp_server_replicas_stop(
    clinic: Clinic, tmp_path: Path
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    build(ROOT / "runtime", wheels)
    deployed = await asyncio.to_thread(
        DeployedImage, clinic.project, tmp_path / "image", wheels
    )
    ports = [find_free_port() for _ in range(3)]
    logs = [tmp_path / f"{port}.log" for port in ports]
    with ExitStack() as stack:
        people = stack.enter_context(start_logins())
        environment = {
            **clinic.environment,
            **people.environment,
            "CLINIC_PACE": "0.2",
            "PRACTICE_ALLOWED_HOSTS": "127.0.0.1",
        }
        killed, ended, stays = (
            stack.enter_context(run_replica(deployed, port, environment, log))
            for port, log in zip(ports, logs, strict=True)
        )
        url = stack.enter_context(run_balancer(FILES / "haproxy.cfg", ports, tmp_path))
        load = Load(url, people)
        tasks = [asyncio.create_task(load.run_user(*each)) for each in CLIENTS]
        await asyncio.sleep(4)
        at_kill = time.monotonic()
        killed.send_signal(signal.SIGKILL)
        await asyncio.sleep(4)
        before_end = sum(load.answered.values())
        ended.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(ended.wait, 25) == 0
        assert clinic.events.count("closed, 0 in use") == 1
        await asyncio.sleep(2)
        load.is_over = True
        await asyncio.gather(*tasks)
        stays.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(stays.wait, 25) == 0

    assert load.wrong == []
    # Only calls in the killed process fail; the stopped process fails none.
    assert 0 < len(load.failed) < len(CLIENTS)
    assert [each for each in load.failed if not 0 <= each[2] - at_kill < 2] == []
    assert sum(load.answered.values()) > before_end
    # Each answer is recorded for its caller, and no other call is recorded.
    with psycopg.connect(clinic.url) as database:
        rows = database.execute(
            'SELECT "user", tool, outcome, count(*) FROM calls GROUP BY 1, 2, 3'
        ).fetchall()
        visits = database.execute("SELECT start, booked_by FROM visits WHERE id > 1")
        made = visits.fetchall()
    lost = Counter((user, tool) for user, tool, _ in load.failed)
    done: Counter[tuple[str, str]] = Counter()
    for user, tool, outcome, count in rows:
        if outcome == "started":
            assert count <= lost[user, tool]
        elif outcome == "asked":
            # A question has its own row, next to the row of the confirmed call.
            assert (user, tool) == ("ben", "refund_visit")
            refunds = load.answered[user, tool]
            assert refunds <= count <= refunds + lost[user, tool]
        else:
            done[user, tool] += count
            right = "error" if (user, tool) == ("eve", "my_visits") else "ok"
            assert outcome == right, (user, tool, outcome)
    assert done.keys() == load.answered.keys()
    for asked, count in load.answered.items():
        assert count <= done[asked] <= count + lost[asked], asked
    # Each answered booking was made once.
    assert {who for _, who in made} == {"mia"}
    starts = [datetime.fromisoformat(start) for start, _ in made]
    assert len(set(starts)) == len(starts)
    assert {datetime.fromisoformat(start) for start in load.booked} <= set(starts)
    assert len(starts) <= len(load.booked) + lost["mia", "book_visit"]
    refunds = load.answered["ben", "refund_visit"]
    refunded = 8_000 - clinic.cents_left()
    assert refunds <= refunded <= refunds + lost["ben", "refund_visit"]
    # All connections are closed, and the logs have no error.
    assert clinic.events.count("opened") == 3
    assert clinic.events.count("closed, 0 in use") == 2
    assert clinic.connections == 0
    text = "".join(log.read_text(encoding="utf-8") for log in logs)
    assert "Traceback" not in text and people.token("mia").split(".")[0] not in text
    for log in logs:
        lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        assert sum(line["name"] == "toolcast.calls" for line in lines) > 20, log
