"""What `call_tool` adds to its handler, in a process: part of `make bench`.

Rounds of the handler alone and of calls through the registry follow each other. Times are of
the processor, all threads together, so that other work on the machine counts little.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

from generation import Sizes
from paired import PYTHON, TOOLCAST, Row, child_environment
from served_rounds import CALL

from specs import write_workspace

__all__ = ["call_rows"]

_ROUNDS, _CALLS = 100, 200


def call_rows(folder: Path, sizes: Sizes) -> Iterator[Row]:
    """A row for each kind of handler, and one with a ledger."""
    kinds = [
        ("an async handler", True, False, 30.0),
        ("an async handler, with a ledger", True, True, None),
        ("a plain function in its thread", False, False, None),
    ]
    for number, (what, is_async, is_recorded, goal) in enumerate(kinds):
        root = folder / f"calls-{number}"
        write_workspace(
            *(root, sizes.tools),
            is_async=is_async,
            is_served=True,
            is_recorded=is_recorded,
        )
        generate = [*TOOLCAST, "generate"]
        subprocess.run(generate, cwd=root, check=True, capture_output=True)
        measured = subprocess.run(
            [PYTHON, __file__],
            cwd=root,
            env=child_environment(),
            check=True,
            capture_output=True,
            text=True,
        )
        added: list[float] = json.loads(measured.stdout)
        words = f"call_tool above {what}"
        figure = statistics.median(added)
        yield Row(words, figure, "us", goal, False, None, (), len(added))


async def _rounds(works: list[Callable[[], Awaitable[Any]]]) -> list[list[float]]:
    """Microseconds of a piece of each work, by round."""
    found: list[list[float]] = [[] for _ in works]
    for turn in range(_ROUNDS + 1):
        for work, times in zip(works, found, strict=True):
            begun = time.process_time()
            for _ in range(_CALLS):
                await work()
            spent = time.process_time() - begun
            if turn:  # the first round warms the caches
                times.append(1e6 * spent / _CALLS)
    return found


def main() -> None:
    """Prints, for the project in the working directory, what each round of calls added."""
    sys.path.insert(0, str(Path.cwd()))
    registry = importlib.import_module("generated.things.registry")
    do_thing = importlib.import_module("handlers.things").do_thing
    arguments: dict[str, Any] = CALL["arguments"]

    async def handler() -> None:
        result = do_thing(**arguments)
        if asyncio.iscoroutine(result):
            await result

    async def called() -> None:
        response = await registry.call_tool(CALL["name"], arguments, "assistant")
        assert response.error is None, response

    alone, through = asyncio.run(_rounds([handler, called]))
    added = [one - other for one, other in zip(through, alone, strict=True)]
    print(json.dumps(added))


if __name__ == "__main__":
    main()
