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


def fail(how: str) -> object:
    if how == "raise":
        raise RuntimeError(SECRET)
    if how == "chained":
        try:
            raise RuntimeError(SECRET)
        except RuntimeError as error:
            raise KeyError(SECRET) from error
    if how == "exit":
        sys.exit(SECRET)
    if how == "interrupt":
        raise KeyboardInterrupt(SECRET)
    if how == "stop":
        raise StopIteration(SECRET)
    if how == "generator":
        raise GeneratorExit(SECRET)
    if how == "cancel":
        raise asyncio.CancelledError(SECRET)
    if how == "broken":
        raise _BrokenTextError
    if how == "unserialisable":
        return {"password": {SECRET}}
    if how == "nan":
        return {SECRET: float("nan")}
    if how == "surrogate":
        return {"file": f"{SECRET}\udcff"}
    if how == "wrong content":
        return ToolResponse(content=[{"type": SECRET}])
    if how == "content of the wrong kind":
        return ToolResponse(content=[SECRET])  # type: ignore[list-item]
    raise AssertionError(how)


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
    block = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    return ToolResponse(content=[block])


def measured_picture() -> ToolResponse:
    block = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
    return ToolResponse(result={"sum": 1}, content=[block])


def unmeasured_picture() -> ToolResponse:
    return picture()


async def report() -> str:
    await current_call().progress(1, 2, "half")
    await current_call().progress(2, 2, "all")
    return "done"


def report_plainly() -> str:
    call = current_call()
    for progress, message in (
        (1, "reading"),
        (1, "still"),
        (0.5, "again"),
        (4, "done"),
    ):
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
