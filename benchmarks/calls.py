"""What `call_tool` adds to its handler, in the process: `make bench`.

Rounds of the handler alone and of calls through the registry follow each other. Times are of
the processor, all threads together, so that other work on the machine counts little; the
lowest of the rounds is nearest to what the code itself takes.
"""

from __future__ import annotations

import asyncio
import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from servers import CALL, PYTHON

from specs import write_workspace

ARGUMENTS: dict[str, Any] = CALL["arguments"]


async def rounds(
    works: list[Callable[[], Awaitable[Any]]], count: int, calls: int
) -> list[list[float]]:
    """Microseconds of a piece of each work, by round."""
    found: list[list[float]] = [[] for _ in works]
    for turn in range(count + 1):
        for work, times in zip(works, found, strict=True):
            begun = time.process_time()
            for _ in range(calls):
                await work()
            spent = time.process_time() - begun
            if turn:  # the first round warms the caches
                times.append(1e6 * spent / calls)
    return found


def compare(root: Path, *, is_async: bool) -> None:
    """Prints the handler, the call, and the difference."""
    write_workspace(root, 1_000, is_async=is_async)
    generate = [PYTHON, "-m", "toolcast", "generate"]
    subprocess.run(generate, cwd=root, check=True, capture_output=True)
    for name in [
        n for n in sys.modules if n.split(".")[0] in ("generated", "handlers")
    ]:
        del sys.modules[name]
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    registry = importlib.import_module("generated.things.registry")
    do_thing = importlib.import_module("handlers.things").do_thing

    async def handler() -> None:
        result = do_thing(**ARGUMENTS)
        if is_async:
            await result

    async def called() -> None:
        response = await registry.call_tool(CALL["name"], ARGUMENTS)
        assert response.error is None, response

    alone, through = asyncio.run(rounds([handler, called], 100, 200))
    sys.path.remove(str(root))
    kind = "an async" if is_async else "a sync"
    added = [one - other for one, other in zip(through, alone, strict=True)]
    print(
        f"call_tool above {kind} handler: {min(added):.1f} us at least,"
        f" {statistics.median(added):.1f} us in the middle"
        f" (handler {statistics.median(alone):.1f} us)",
        flush=True,
    )


def main() -> None:
    """Prints a line for each kind of handler."""
    with tempfile.TemporaryDirectory(prefix="toolcast-calls-") as folder:
        for is_async in (True, False):
            compare(Path(folder) / str(is_async), is_async=is_async)


if __name__ == "__main__":
    main()
