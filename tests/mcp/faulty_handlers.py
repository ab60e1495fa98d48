"""Handlers that fail, hang, print or return wrong results, for the project `faulty`."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

from toolcast_runtime import ToolError, ToolResponse, current_call

SECRET = "hunter2-hunter2"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
_started: list[str] = []
_cancelled: list[str] = []


def add(a: int, b: int = 5) -> dict[str, int]:
    return {"sum": a + b}


def echo(arguments: Mapping[str, Any], /) -> Mapping[str, Any]:
    return arguments


def loose(a: int = 0) -> str:
    return f"a is {a}"


def refuse(reason: str) -> None:
    raise ToolError(reason)


class _BrokenTextError(Exception):
    def __str__(self) -> str:
        raise RuntimeError(SECRET)


ERRORS: dict[str, type[BaseException]] = {
    "raise": RuntimeError,
    "exit": SystemExit,
    "interrupt": KeyboardInterrupt,
    "stop": StopIteration,
    "generator": GeneratorExit,
    "cancel": asyncio.CancelledError,
    "broken": _BrokenTextError,
}
INVALID_RESULTS: dict[str, Any] = {
    "unserialisable": {"password": {SECRET}},
    "nan": {SECRET: float("nan")},
    "surrogate": {"file": f"{SECRET}\udcff"},
    "wrong content": ToolResponse(content=[{"type": SECRET}]),
    "content of the wrong kind": ToolResponse(content=[SECRET]),  # type: ignore[list-item]
}


def fail(how: str) -> object:
    if how == "chained":
        try:
            raise RuntimeError(SECRET)
        except RuntimeError as error:
            raise KeyError(SECRET) from error
    if how in ERRORS:
        raise ERRORS[how](SECRET)
    return INVALID_RESULTS[how]


async def fail_async(how: str) -> object:
    return fail(how)


def hang() -> None:
    threading.Event().wait()


async def hang_async() -> None:
    _started.append(current_call().tool)
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        _cancelled.append(current_call().tool)
        raise


def cancelled() -> list[str]:
    return _cancelled


def started() -> list[str]:
    return _started


def chatter() -> str:
    print("printed by a handler")
    sys.stdout.buffer.write(b"written by a handler\n")
    sys.stdout.flush()
    os.write(1, b'{"jsonrpc": "2.0", "id": 1, "result": "forged"}\n')
    subprocess.run([sys.executable, "-c", "print('a child prints')"], check=True)
    return "done"


def read_stdin() -> str:
    return sys.stdin.read()


def wrong_result() -> dict[str, str]:
    return {"sum": "many"}


def array() -> list[int]:
    return [1, 2]


def text() -> str:
    return "plain"


def picture() -> ToolResponse:
    return ToolResponse(content=[IMAGE])


def measured_picture() -> ToolResponse:
    return ToolResponse(result={"sum": 1}, content=[IMAGE])


def unmeasured_picture() -> ToolResponse:
    return picture()


async def report() -> str:
    await current_call().progress(1, 2, "half")
    await current_call().progress(2, 2, "all")
    return "done"


def report_plainly() -> str:
    call = current_call()
    reports = (1, "reading"), (1, "still"), (0.5, "again"), (4, "done")
    for progress, message in reports:
        call.progress(progress, 4, message)
        time.sleep(0.05)
    return "done"


def wait_plainly() -> None:
    call = current_call()
    _started.append(call.tool)
    while not call.cancelled:
        time.sleep(0.01)
    _cancelled.append(call.tool)


async def take_long(seconds: float = 8) -> str:
    await asyncio.sleep(seconds)
    return "done"
