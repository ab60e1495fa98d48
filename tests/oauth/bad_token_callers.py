"""Send requests with bad tokens in a loop.

Usage: `python -m tests.oauth.bad_token_callers PORT COUNT SECONDS`.
Each caller has its own connection, repeats its request as soon as it gets a response or is
disconnected, and never repeats a token. The count of each status is printed.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import sys
import time
from collections import Counter

__all__: list[str] = []

_BODY = b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
_numbers = itertools.count()


def _request() -> bytes:
    return (
        b"POST /mcp/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Accept: application/json, text/event-stream\r\n"
        b"Authorization: Bearer bad-%d\r\nContent-Length: %d\r\n\r\n%s"
    ) % (next(_numbers), len(_BODY), _BODY)


async def _send_requests(port: int, answers: Counter[str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while True:
            writer.write(_request())
            head = await reader.readuntil(b"\r\n\r\n")
            answers[head.split()[1].decode()] += 1
            size = head.lower().partition(b"content-length:")[2].split()[0]
            await reader.readexactly(int(size))
            if b"connection: close" in head.lower():
                return
    finally:
        writer.transport.abort()


async def _main(port: int, count: int, seconds: float) -> None:
    answers: Counter[str] = Counter()
    end = time.monotonic() + seconds

    async def caller() -> None:
        while time.monotonic() < end:
            try:
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + 15):
                    await _send_requests(port, answers)
            except (OSError, EOFError, TimeoutError) as error:
                answers[type(error).__name__] += 1

    callers = [asyncio.create_task(caller()) for _ in range(count)]
    await asyncio.wait(callers, timeout=seconds)
    print(json.dumps(answers))


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
