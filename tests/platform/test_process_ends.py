"""The clinic's connection pool is closed for every end of a process."""

from __future__ import annotations

import signal
import threading
from dataclasses import replace

import pytest

from tests.consent.terminals import run_in_terminal
from tests.http.serving import run_server
from tests.mcp.servers import ERAS, encode_requests
from tests.platform.clinic_runs import Clinic

pytestmark = pytest.mark.slow
OPENED, CLOSED = "opened", "closed, 0 in use"
BEGUN = "export begun"
STOPPED_CALL = [OPENED, BEGUN, "export stopped after 0 visits", CLOSED]
YEAR = {"first": "2026-01-01", "last": "2026-12-31"}
EXPORT = {"name": "export_visits", "arguments": YEAR}


def test_mcp_stdio_server_stops_its_call_and_closes_the_database_pool_after_a_signal(
    clinic: Clinic,
) -> None:
    slow = replace(clinic, pace=0.05)
    process = slow.start("clinic_tools.records.mcp_server", "--grace", "1")
    assert process.stdin is not None
    process.stdin.write(encode_requests(ERAS[1], ("tools/call", EXPORT)).encode())
    process.stdin.flush()
    clinic.wait_for(lambda: BEGUN in clinic.events)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert clinic.events == STOPPED_CALL


def test_mcp_http_server_closes_each_workers_pool_after_a_signal(
    clinic: Clinic,
) -> None:
    with run_server(
        "--workers",
        "2",
        package="clinic_tools.reception",
        root=clinic.project,
        env=clinic.environment,
    ) as web:
        clinic.wait_for(lambda: clinic.events == [OPENED] * 2)
        web.process.send_signal(signal.SIGINT)
        assert web.process.wait(60) == 0
    assert clinic.events == [OPENED] * 2 + [CLOSED] * 2


def test_mcp_http_server_stops_a_running_tool_call_after_sigterm_and_closes_the_pool(
    clinic: Clinic,
) -> None:
    env = replace(clinic, pace=0.05).environment
    options = ("--grace", "1")
    package = "clinic_tools.records"
    with run_server(*options, package=package, root=clinic.project, env=env) as web:
        caller = threading.Thread(
            target=web.request,
            args=("/mcp/", "tools/call", EXPORT),
            kwargs={"modern": True},
        )
        caller.start()
        clinic.wait_for(lambda: BEGUN in clinic.events)
        web.process.terminate()
        assert web.process.wait(60) == 0
        caller.join(30)
    assert clinic.events == STOPPED_CALL


def test_generated_cli_command_with_confirm_closes_the_pool_after_the_user_types_yes(
    clinic: Clinic,
) -> None:
    refund = ("clinic_tools.reception.cli", "refund", "--visit-id", "1", "--amount")
    amount = '{"cents": 5000, "currency": "EUR"}'
    with run_in_terminal(clinic.project, clinic.environment, *refund, amount) as person:
        person.read_until("decline: ")
        assert "Pay this back to the patient?" in person.output
        assert "- visit_id: 1" in person.output and "5000" in person.output
        assert clinic.cents_left() == 8_000
        person.type("yes\n")
        person.read_to_end()
    assert '"cents": 3000' in person.output
    assert clinic.cents_left() == 3_000
    assert clinic.approvals == [("refund_visit", "accept")]
    assert clinic.events.count(OPENED) == clinic.events.count(CLOSED)


def test_generated_cli_command_stops_its_tool_and_closes_the_database_pool_after_a_signal(
    clinic: Clinic,
) -> None:
    slow = replace(clinic, pace=0.05)
    arguments = ("export", "--first", YEAR["first"], "--last", YEAR["last"])
    process = slow.start("clinic_tools.records.cli", *arguments)
    clinic.wait_for(lambda: BEGUN in clinic.events)
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in output.decode()
    assert clinic.events == STOPPED_CALL
