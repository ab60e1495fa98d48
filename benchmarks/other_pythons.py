"""Comparison of a generated server with the plain SDK on each installed Python.

Each Python has its own environment in `.toolcast/peers/`, with the same package versions.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from generation import Sizes
from generators import install_python
from paired import PYTHON, Row
from results import Part
from servers import (
    CALL,
    CHECKED,
    OURS,
    PLAIN,
    compare_servers,
    get_calls,
    list_transports,
    make_candidates,
)
from turns import call_in_turn
from workspaces import ROOT

from tests.pythons import find_interpreters

_PACKAGES = "mcp uvicorn anyio starlette pydantic jsonschema jsonschema-rs typing-extensions".split()
_EXTRA_PACKAGES = "python-json-logger opentelemetry-api".split()


def other_pythons_part(folder: Path, sizes: Sizes) -> Part:
    """Compare calls over stdio and HTTP on this Python and each later version."""
    calls = 1_000 if sizes.rounds > 1 else 100
    names = (OURS, PLAIN, CHECKED)
    candidates = make_candidates(folder, sizes.small)
    measured = [server for server in candidates if server.name in names]
    rows: list[Row] = []
    for version, python in list_pythons():
        servers = [
            replace(
                server,
                stdio=[*python, *server.stdio[1:]],
                http=[*python, *server.http[1:]],
            )
            for server in measured
        ]
        for transport, start in list_transports():
            figures = call_in_turn(servers, start, CALL, sizes.few_rounds, calls)
            work = f"calls over {transport}, Python {version}"
            rows += compare_servers(work, get_calls(figures))
    return Part(rows)


def list_pythons() -> Iterator[tuple[str, list[str]]]:
    """Yield the version and command of this Python and of each later installed version."""
    yield f"{sys.version_info.major}.{sys.version_info.minor}", [PYTHON]
    pinned = [
        f"{name}=={importlib.metadata.version(name)}"
        for name in _PACKAGES + _EXTRA_PACKAGES
    ]
    for version, program in find_interpreters().items():
        if tuple(map(int, version.split("."))) > sys.version_info[:2]:
            folder = install_python(*pinned, python=program)
            path = f"PYTHONPATH={ROOT / 'runtime'}"
            yield version, ["/usr/bin/env", path, str(folder / "bin" / "python")]
