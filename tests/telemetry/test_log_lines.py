"""What a server's process writes to stderr: whole lines with a zone, none of them forged."""

from __future__ import annotations

import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from toolcast_runtime.telemetry.log_lines import (
    LogFormat,
    LogLevel,
    StderrHandler,
    write_logs,
)

ROOT = Path(__file__).parents[2]
BEGIN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 [A-Z]+ ")
FORGED = "2026-11-23T00:00:00.000+00:00 INFO toolcast.calls tool=forged"
NAMES = ("", "toolcast", "mcp", "httpx", "httpx2", "uvicorn.access")


@pytest.fixture
def stderr(capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """What is written there; how this process logs is as before afterwards."""
    loggers = [logging.getLogger(name) for name in NAMES]
    levels = [each.level for each in loggers]
    handlers = list(loggers[0].handlers)
    yield lambda: capfd.readouterr().err
    logging.logThreads = logging.logMultiprocessing = True
    loggers[0].handlers[:] = handlers
    for each, level in zip(loggers, levels, strict=True):
        each.setLevel(level)


def log_a_fault(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        logging.getLogger("library").exception("it failed: %s", text)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\x0b", "\x85", "\u2028"])
def test_a_text_of_others_begins_no_line(stderr: Callable[[], str], end: str) -> None:
    write_logs()
    log_a_fault(f"bad{end}{FORGED}\x1b[31m")
    written = stderr()
    first, *rest = written.splitlines()
    assert BEGIN.match(first) and "ERROR library it failed: bad\\" in first
    assert rest and all(line.startswith("  ") for line in rest)
    assert "\x1b" not in written
    assert FORGED in rest[-1]


def test_a_fault_with_a_plain_message_is_told_whole(stderr: Callable[[], str]) -> None:
    write_logs()
    log_a_fault("out of paper")
    first, *rest = stderr().splitlines()
    assert BEGIN.match(first) and first.endswith("library it failed: out of paper")
    assert rest[0] == "  Traceback (most recent call last):"
    assert rest[-1] == "  ValueError: out of paper"


@pytest.mark.parametrize("log_format", get_args(LogFormat))
def test_no_line_of_a_start_reads_as_an_error(
    stderr: Callable[[], str], log_format: LogFormat
) -> None:
    write_logs(log_format)
    logging.getLogger("uvicorn.error").info("Started server process")
    written = stderr()
    assert "Started server process" in written and "uvicorn" in written
    assert "error" not in written.lower()


def test_a_line_for_machines_is_one_object(stderr: Callable[[], str]) -> None:
    write_logs("json")
    log_a_fault(f"bad\n{FORGED}\x1b[31m")
    (line,) = stderr().splitlines()
    assert "\x1b" not in line
    record = json.loads(line)
    assert BEGIN.match(f"{record['time']} {record['level']} ")
    assert (record["level"], record["name"]) == ("ERROR", "library")
    assert record["message"] == f"it failed: bad\n{FORGED}\x1b[31m"
    assert "Traceback" in record["exc_info"]


@pytest.mark.parametrize(
    ("level", "told"),
    [
        (
            "debug",
            "toolcast:10 toolcast:20 library:20 toolcast:30 library:30 mcp:30 httpx:30",
        ),
        ("info", "toolcast:20 library:20 toolcast:30 library:30 mcp:30 httpx:30"),
        ("warning", "toolcast:30 library:30 mcp:30 httpx:30"),
        ("error", ""),
    ],
)
def test_a_level_keeps_what_libraries_tell_of_requests_to_itself(
    stderr: Callable[[], str], level: LogLevel, told: str
) -> None:
    write_logs("json", level)
    numbers = {"DEBUG": 10, "INFO": 20, "WARNING": 30}
    for number in numbers.values():
        for name in ("toolcast", "library", "mcp", "httpx"):
            logging.getLogger(name).log(number, "told")
    lines = [json.loads(line) for line in stderr().splitlines()]
    found = [f"{line['name']}:{numbers[line['level']]}" for line in lines]
    assert found == told.split()


def test_a_stderr_that_nobody_reads_holds_nothing_up() -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb"):
        handler = StderrHandler(write)

        def log(text: str) -> None:
            handler.emit(logging.makeLogRecord({"msg": text}))

        for number in range(3_000):
            log(f"{number} " + "long " * 30)
        os.read(read, 1 << 20)
        log("read again")
        os.set_blocking(read, False)
        lines = os.read(read, 1 << 20).decode().splitlines()
    os.close(read)
    lost = re.fullmatch(r"(\d+) log lines were dropped: stderr was not read", lines[-2])
    assert lost and 2_000 < int(lost[1]) < 3_000
    assert lines[-1] == "read again"


@pytest.mark.slow
def test_without_a_stderr_no_other_file_takes_its_lines(tmp_path: Path) -> None:
    program = """
import logging
from toolcast_runtime.telemetry.log_lines import write_logs
write_logs()
file = open("data", "w")
assert file.fileno() == 2
logging.getLogger("library").error("told")
"""
    words = ["sh", "-c", '"$0" -c "$1" 2>&-', sys.executable, program]
    subprocess.run(words, cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "data").read_text("utf-8") == ""


def say(method: str, number: int | str | None, **params: Any) -> str:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message | ({} if number is None else {"id": number})) + "\n"


@pytest.mark.slow
@pytest.mark.parametrize("log_format", get_args(LogFormat))
def test_over_stdio_lines_go_to_stderr_alone(log_format: LogFormat) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
    spoken = (
        say("initialize", 1, **hello, clientInfo={"name": "t", "version": "1"})
        + say("notifications/initialized", None)
        + say("tools/call", 7, name="get_personality", arguments={})
        + say(
            "tools/call", "8\n\x1b[31m", name="get_personality", arguments={"s3cret": 1}
        )
    )
    words = ["--client", "internal", "--local-tools", "--log-format", log_format]
    ran = subprocess.run(
        [sys.executable, "-m", "generated.kirishima.mcp_server", *words],
        input=spoken,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert len(ran.stdout.splitlines()) == 3
    invalid, called = sorted(ran.stderr.splitlines(), key=lambda line: "ok" in line)
    assert "8\\n\\x1b[31m" in invalid.replace("\\\\", "\\")
    assert "s3cret" not in ran.stderr
    if log_format == "json":
        record = json.loads(called)
        assert (record["tool"], record["client"]) == ("get_personality", "internal")
        assert (record["outcome"], record["request_id"]) == ("ok", "7")
        return
    assert BEGIN.match(called) and BEGIN.match(invalid)
    assert " tool=get_personality client=internal outcome=ok seconds=0." in called
    assert called.endswith(" request_id=7")
