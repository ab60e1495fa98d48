"""Calls of a generated server beside the plain SDK on each further Python that is installed.

Each gets an environment of its own below `.toolcast/peers/`, with the same versions of what both
servers run on.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from generation import Sizes
from generators import installed_python
from paired import PYTHON, Row
from results import Part
from servers import (
    CALL,
    CHECKED,
    OURS,
    PLAIN,
    beside,
    calls_of,
    candidates,
    transports,
)
from turns import call_in_turn
from workspaces import ROOT

from tests.pythons import find_interpreters

__all__ = ["other_pythons_part", "pythons"]

_USED = "mcp uvicorn anyio starlette pydantic jsonschema jsonschema-rs typing-extensions".split()
_MORE = "python-json-logger opentelemetry-api".split()


def other_pythons_part(folder: Path, sizes: Sizes) -> Part:
    """Measure calls over stdio and HTTP on this and each later Python."""
    calls = 1_000 if sizes.rounds > 1 else 100
    named = (OURS, PLAIN, CHECKED)
    here = [one for one in candidates(folder, sizes.small) if one.name in named]
    rows: list[Row] = []
    for version, python in pythons():
        servers = [
            replace(
                server,
                stdio=[*python, *server.stdio[1:]],
                http=[*python, *server.http[1:]],
            )
            for server in here
        ]
        for transport, start in transports():
            figures = call_in_turn(servers, start, CALL, sizes.few, calls)
            work = f"calls over {transport}, Python {version}"
            rows += beside(work, calls_of(figures))
    return Part(rows)


def pythons() -> Iterator[tuple[str, list[str]]]:
    """Yield version and command of this Python and of each later one with the runtime."""
    yield f"{sys.version_info.major}.{sys.version_info.minor}", [PYTHON]
    pinned = [f"{name}=={importlib.metadata.version(name)}" for name in _USED + _MORE]
    for version, program in find_interpreters().items():
        if tuple(map(int, version.split("."))) > sys.version_info[:2]:
            folder = installed_python(*pinned, python=program)
            path = f"PYTHONPATH={ROOT / 'runtime'}"
            yield version, ["/usr/bin/env", path, str(folder / "bin" / "python")]
