"""Handlers that send log messages to the client."""

from __future__ import annotations

import threading

from toolcast_runtime import current_call


async def each_level(levels: list[str]) -> str:
    """Log a message for each level."""
    for level in levels:
        current_call().log(level, f"at {level}")  # type: ignore[arg-type]
    return "done"


def from_thread() -> str:
    """Log from the worker thread and from a thread that it starts."""
    call = current_call()
    call.log("info", "worker")
    thread = threading.Thread(target=call.log, args=("info", "thread"))
    thread.start()
    thread.join()
    return "done"


async def many(count: int) -> str:
    """Log `count` messages without a pause, and wait until they are sent."""
    call = current_call()
    for number in range(count):
        call.log("info", f"message {number}")
    await call.request.flush()  # type: ignore[union-attr]
    return "done"


async def odd(text: str, size: int) -> str:
    """Log a text that is repeated `size` times, and an object with the text."""
    call = current_call()
    call.log("error", text * size)
    call.request.send_log("error", {"text": text * size})  # type: ignore[union-attr]
    return "done"


async def failing() -> str:
    """Log a message and then raise."""
    current_call().log("warning", "before")
    raise ValueError("no")


async def wrong(level: str) -> str:
    """Log with an unknown level and with a number, and return both errors."""
    for arguments in ((level, "text"), ("info", 3)):
        try:
            current_call().log(*arguments)  # type: ignore[arg-type]
        except (ValueError, TypeError) as error:
            message = str(error)
            if arguments[0] == level:
                first = message
    return f"{first}; {message}"
