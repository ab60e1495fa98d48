"""The clinic's connection pool is closed for every end of a process."""

from __future__ import annotations

import json
import re
import signal
import threading
from dataclasses import replace

import pytest

from tests.consent.terminals import run_in_terminal
from tests.http.serving import run_server
from tests.mcp.servers import ERAS, encode_requests
from tests.platform.clinic_runs import MONDAY, Clinic

SLOW = pytest.mark.slow
SIGNALS = pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=SLOW)]
)
OPENED, CLOSED = "opened", "closed, 0 in use"
BEGUN, STOPPED = "export begun", "export stopped after 0 visits"
YEAR = {"first": "2026-01-01", "last": "2026-12-31"}


@pytest.mark.parametrize("era", [pytest.param(ERAS[0], marks=SLOW), ERAS[1]])
def test_mcp_stdio_server_closes_the_database_pool_when_stdin_ends(
    clinic: Clinic, era: str
) -> None:
    call = {"name": "search_visits", "arguments": {"day": MONDAY}}
    process = clinic.start("clinic_tools.reception.mcp_server")
    output, _ = process.communicate(
        encode_requests(era, ("tools/call", call)).encode(), 60
    )
    assert b"Ada" in output
    assert process.returncode == 0
    assert clinic.events == [OPENED, CLOSED]


@SLOW
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True])
def test_mcp_stdio_server_stops_its_call_and_closes_the_database_pool_after_a_signal(
    clinic: Clinic, number: int, busy: bool
) -> None:
    slow = replace(clinic, pace=0.05)
    process = slow.start("clinic_tools.records.mcp_server", "--grace", "1")
    clinic.wait_for(lambda: bool(clinic.events))
    if busy:
        assert process.stdin is not None
        call = {"name": "export_visits", "arguments": YEAR}
        process.stdin.write(encode_requests(ERAS[1], ("tools/call", call)).encode())
        process.stdin.flush()
        clinic.wait_for(lambda: BEGUN in clinic.events)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert clinic.events == [OPENED, *([BEGUN, STOPPED] if busy else []), CLOSED]


@SLOW
@SIGNALS
@pytest.mark.parametrize("workers", [1, 2])
def test_mcp_http_server_closes_each_worker_database_pool_after_a_signal(
    clinic: Clinic, number: int, workers: int
) -> None:
    options = ("--workers", str(workers))
    package = "clinic_tools.reception"
    with run_server(
        *options, package=package, root=clinic.project, env=clinic.environment
    ) as web:
        clinic.wait_for(lambda: clinic.events == [OPENED] * workers)
        web.process.send_signal(number)
        assert web.process.wait(60) == 0
    assert clinic.events == [OPENED] * workers + [CLOSED] * workers


@SLOW
def test_mcp_http_server_stops_a_running_tool_call_after_sigterm_and_closes_the_pool(
    clinic: Clinic,
) -> None:
    env = replace(clinic, pace=0.05).environment
    options = ("--grace", "1")
    package = "clinic_tools.records"
    with run_server(*options, package=package, root=clinic.project, env=env) as web:
        call = {"name": "export_visits", "arguments": YEAR}
        caller = threading.Thread(
            target=web.request,
            args=("/mcp/", "tools/call", call),
            kwargs={"modern": True},
        )
        caller.start()
        clinic.wait_for(lambda: BEGUN in clinic.events)
        web.process.terminate()
        assert web.process.wait(60) == 0
        caller.join(30)
    assert clinic.events == [OPENED, BEGUN, STOPPED, CLOSED]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("end", 0),
        pytest.param("exit", 3, marks=SLOW),
        pytest.param("error", 1, marks=SLOW),
        pytest.param("within", 0, marks=SLOW),
        pytest.param("typed", 0, marks=SLOW),
        pytest.param("langchain", 0, marks=SLOW),
    ],
)
def test_script_with_registry_calls_closes_the_database_pool_however_it_ends(
    clinic: Clinic, way: str, code: int
) -> None:
    done = clinic.run("clinic_script.py", way)
    assert done.returncode == code, done.stderr
    assert ("Ada" in done.stdout) == (code == 0)
    assert clinic.events == [OPENED, CLOSED]


def test_generated_cli_command_closes_the_database_pool_when_it_ends(
    clinic: Clinic,
) -> None:
    done = clinic.run("-m", "clinic_tools.reception.cli", "visits", "--day", MONDAY)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[0]["patient"] == "Ada"
    assert clinic.events == [OPENED, CLOSED]


@SLOW
def test_generated_cli_command_for_a_tool_with_confirm_fails_without_a_terminal(
    clinic: Clinic,
) -> None:
    arguments = ("refund", "--visit-id", "1", "--amount")
    amount = '{"cents": 5000, "currency": "EUR"}'
    done = clinic.run("-m", "clinic_tools.reception.cli", *arguments, amount)
    assert done.returncode == 1
    assert "there is no terminal" in done.stderr
    assert clinic.cents_left() == 8_000
    assert clinic.events.count(OPENED) == clinic.events.count(CLOSED)


@SLOW
@pytest.mark.parametrize(("typed", "left"), [("yes", 3_000), ("sure", 8_000)])
def test_generated_cli_command_runs_a_tool_with_confirm_only_if_the_user_types_yes(
    clinic: Clinic, typed: str, left: int
) -> None:
    refund = ("clinic_tools.reception.cli", "refund", "--visit-id", "1", "--amount")
    amount = '{"cents": 5000, "currency": "EUR"}'
    with run_in_terminal(clinic.project, clinic.environment, *refund, amount) as person:
        person.read_until("decline: ")
        assert "Pay this back to the patient?" in person.output
        assert "- visit_id: 1" in person.output and "5000" in person.output
        assert clinic.cents_left() == 8_000
        person.type(f"{typed}\n")
        person.read_to_end()
    assert ('"cents": 3000' in person.output) == (left == 3_000)
    assert clinic.cents_left() == left
    action = "accept" if left == 3_000 else "decline"
    assert clinic.approvals == [("refund_visit", action)]
    assert clinic.events.count(OPENED) == clinic.events.count(CLOSED)


@SLOW
def test_generated_cli_command_repeats_a_form_question_after_an_invalid_answer(
    clinic: Clinic,
) -> None:
    born = ("register", "--name", "Grace", "--birthday", "1986-12-09")
    arguments = ("clinic_tools.reception.cli", *born)
    with run_in_terminal(clinic.project, clinic.environment, *arguments) as person:
        person.read_until("(public, private, none): ")
        person.type("gold\n")
        person.read_until("This is not a valid answer.")
        person.read_until("none): ")
        person.type("private\n")
        person.read_to_end()
    assert '"insurance": "private"' in person.output
    assert clinic.approvals == [("register_patient", "accept")]
    assert clinic.events[-1] == CLOSED


@SLOW
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_generated_cli_command_stops_its_tool_and_closes_the_database_pool_after_a_signal(
    clinic: Clinic, number: int
) -> None:
    slow = replace(clinic, pace=0.05)
    arguments = ("export", "--first", YEAR["first"], "--last", YEAR["last"])
    process = slow.start("clinic_tools.records.cli", *arguments)
    clinic.wait_for(lambda: BEGUN in clinic.events)
    process.send_signal(number)
    _, output = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "Traceback" not in output.decode()
    assert clinic.events == [OPENED, BEGUN, STOPPED, CLOSED]


@SLOW
@pytest.mark.parametrize("toolset", ["reception", "records"])
def test_mcp_server_exits_with_code_3_and_the_lifespan_error_if_the_database_is_unreachable(
    clinic: Clinic, toolset: str
) -> None:
    url = "postgresql://nobody@127.0.0.1:9/clinic"
    for options in ((), ("--http", "--port", "0")):
        done = replace(clinic, url=url).run(
            "-m", f"clinic_tools.{toolset}.mcp_server", *options
        )
        assert done.returncode == 3, done.stderr
        assert re.search(
            f"the lifespan of `{toolset}` .clinic.app:lifespan. failed to"
            " start: .*OperationalError",
            done.stderr,
        )
        assert "Traceback" not in done.stderr
