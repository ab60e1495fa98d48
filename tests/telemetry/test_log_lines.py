"""Log lines of servers on stderr: formats, escaping, levels and unread pipes."""

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
LINE_START = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00 [A-Z]+ ")
FORGED = "2026-11-23T00:00:00.000+00:00 INFO toolcast.calls tool=forged"
WARNINGS = "toolcast:30 library:30 mcp:30 httpx:30"
NAMES = ("", "toolcast", "mcp", "httpx", "httpx2", "uvicorn.access")


@pytest.fixture
def stderr(capfd: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """Return a function that reads stderr; restore the logging configuration afterwards."""
    loggers = [logging.getLogger(name) for name in NAMES]
    levels = [logger.level for logger in loggers]
    handlers = list(loggers[0].handlers)
    yield lambda: capfd.readouterr().err
    logging.logThreads = logging.logMultiprocessing = True
    loggers[0].handlers[:] = handlers
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def log_exception(text: str) -> None:
    try:
        raise ValueError(text)
    except ValueError:
        logging.getLogger("library").exception("it failed: %s", text)


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r", "\x0b", "\x85", "\u2028"])
def test_line_breaks_in_logged_text_cannot_start_a_new_log_line(
    stderr: Callable[[], str], line_end: str
) -> None:
    write_logs()
    log_exception(f"bad{line_end}{FORGED}\x1b[31m")
    output = stderr()
    first, *rest = output.splitlines()
    assert LINE_START.match(first) and "ERROR library it failed: bad\\" in first
    assert rest[0] == "  Traceback (most recent call last):"
    assert all(line.startswith("  ") for line in rest)
    assert "\x1b" not in output
    assert FORGED in rest[-1]


@pytest.mark.parametrize(
    ("has_error", "has_stack"), [(True, False), (False, True), (True, True)]
)
def test_log_record_traceback_and_stack_follow_its_line_indented(
    stderr: Callable[[], str], has_error: bool, has_stack: bool
) -> None:
    write_logs()
    error = ValueError("bad") if has_error else None
    logging.getLogger("library").error("failed", exc_info=error, stack_info=has_stack)
    first, *rest = stderr().splitlines()
    assert LINE_START.match(first) and first.endswith("ERROR library failed")
    assert ("  ValueError: bad" in rest) is has_error
    assert ("  Stack (most recent call last):" in rest) is has_stack
    assert rest and all(line.startswith("  ") for line in rest)


@pytest.mark.parametrize("log_format", get_args(LogFormat))
def test_uvicorn_start_line_does_not_contain_the_word_error(
    stderr: Callable[[], str], log_format: LogFormat
) -> None:
    write_logs(log_format)
    logging.getLogger("uvicorn.error").info("Started server process")
    output = stderr()
    assert "Started server process" in output and "uvicorn" in output
    assert "error" not in output.lower()


def test_json_log_format_writes_an_object_per_record(stderr: Callable[[], str]) -> None:
    write_logs("json")
    log_exception(f"bad\n{FORGED}\x1b[31m")
    (line,) = stderr().splitlines()
    assert "\x1b" not in line
    record = json.loads(line)
    assert LINE_START.match(f"{record['time']} {record['level']} ")
    assert (record["level"], record["name"]) == ("ERROR", "library")
    assert record["message"] == f"it failed: bad\n{FORGED}\x1b[31m"
    assert "Traceback" in record["exc_info"]


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("debug", f"toolcast:10 toolcast:20 library:20 {WARNINGS}"),
        ("info", f"toolcast:20 library:20 {WARNINGS}"),
        ("warning", WARNINGS),
        ("error", ""),
    ],
)
def test_log_level_option_does_not_show_library_request_lines(
    stderr: Callable[[], str], level: LogLevel, expected: str
) -> None:
    """`mcp` and `httpx` log warnings only, and other libraries no debug lines."""
    write_logs("json", level)
    numbers = {"DEBUG": 10, "INFO": 20, "WARNING": 30}
    for number in numbers.values():
        for name in ("toolcast", "library", "mcp", "httpx"):
            logging.getLogger(name).log(number, "text")
    lines = [json.loads(line) for line in stderr().splitlines()]
    logged = [f"{line['name']}:{numbers[line['level']]}" for line in lines]
    assert logged == expected.split()


def test_logging_to_an_unread_stderr_drops_lines_and_does_not_block() -> None:
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
    message = r"(\d+) log lines were dropped: stderr was not read"
    dropped = re.fullmatch(message, lines[-2])
    assert dropped and 2_000 < int(dropped[1]) < 3_000
    assert lines[-1] == "read again"


@pytest.mark.slow
def test_closed_stderr_writes_no_log_lines_into_another_file(tmp_path: Path) -> None:
    program = """
import logging
from toolcast_runtime.telemetry.log_lines import write_logs
write_logs()
file = open("data", "w")
assert file.fileno() == 2
logging.getLogger("library").error("text")
"""
    args = ["sh", "-c", '"$0" -c "$1" 2>&-', sys.executable, program]
    subprocess.run(args, cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "data").read_text("utf-8") == ""


def encode_message(method: str, number: int | str | None, **params: Any) -> str:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message | ({} if number is None else {"id": number})) + "\n"


@pytest.mark.slow
def test_stdio_server_logs_calls_to_stderr_without_arguments() -> None:
    info = {"clientInfo": {"name": "t", "version": "1"}, "capabilities": {}}
    call = {"name": "get_personality", "arguments": {}}
    invalid = {**call, "arguments": {"s3cret": 1}}
    requests = (
        encode_message("initialize", 1, protocolVersion="2025-11-25", **info)
        + encode_message("notifications/initialized", None)
        + encode_message("tools/call", 7, **call)
        + encode_message("tools/call", "8\n\x1b[31m", **invalid)
    )
    args = ["--client", "internal", "--local-tools", "--log-format", "json"]
    process = subprocess.run(
        [sys.executable, "-m", "generated.kirishima.mcp_server", *args],
        input=requests,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert len(process.stdout.splitlines()) == 3
    lines = process.stderr.splitlines()
    invalid_line, ok_line = sorted(lines, key=lambda line: "ok" in line)
    assert "8\\n\\x1b[31m" in invalid_line.replace("\\\\", "\\")
    assert "s3cret" not in process.stderr
    record = json.loads(ok_line)
    assert (record["tool"], record["client"]) == ("get_personality", "internal")
    assert (record["outcome"], record["request_id"]) == ("ok", "7")
