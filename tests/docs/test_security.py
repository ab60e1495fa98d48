"""The code to review before a toolset is served over stdio, as docs/security-tests.md lists it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Project

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "runtime/toolcast_runtime"
PAGE = (ROOT / "docs/security-tests.md").read_text("utf-8")
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}
MESSAGES = (
    {"id": 1, "method": "initialize", "params": HELLO},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "ping", "arguments": {}}},
)


def told() -> dict[str, int]:
    """The packages and modules of the table, with their lines."""
    rows = re.findall(r"^\| `([a-z_/]+)(?:/|\.py)` \| ([\d,]+) \|", PAGE, re.M)
    return {name: int(lines.replace(",", "")) for name, lines in rows}


def test_the_lines_of_each_package_are_about_those_that_are_told() -> None:
    for name, lines in told().items():
        files = [*(RUNTIME / name).rglob("*.py"), *RUNTIME.glob(f"{name}.py")]
        there = sum(file.read_bytes().count(b"\n") for file in files)
        assert abs(there - lines) <= max(50, lines * 0.1), f"{name}: {there}"
    (whole,) = re.findall(r"some (\d+),000 lines in all", PAGE)
    assert abs(int(whole) * 1000 - sum(told().values())) <= 600


def test_a_call_over_stdio_loads_nothing_else_of_the_runtime(
    make_project: Callable[..., Project],
) -> None:
    project = make_project(
        {
            "ping": "summary: Pong.\nparameters: {type: object}\nhandler: handlers.toy:ping\n"
        },
        workspace="targets: [registry, mcp]\n",
        handlers='def ping() -> str:\n    return "pong"\n',
    )
    project.generate()
    lines = [json.dumps({"jsonrpc": "2.0", **one}) for one in MESSAGES]
    words = ("-X", "importtime", "-m", "generated.toy.mcp_server")
    done = project.run(*words, given="\n".join([*lines, ""]))
    assert '"pong"' in done.stdout, done.stderr
    loaded = set(re.findall(r"toolcast_runtime\.([\w.]+)", done.stderr))
    assert "core.registry" in loaded
    read = [package.replace("/", ".") for package in told()]
    # Packages whose `__init__` only declares public names.
    known = {"http", "core"}
    assert {
        name
        for name in loaded - known
        if not any(name == one or name.startswith(f"{one}.") for one in read)
    } == set()
