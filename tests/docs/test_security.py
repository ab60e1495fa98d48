"""Code size of a stdio server: the table of packages in docs/security-tests.md."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from tests.conftest import Project

ROOT = Path(__file__).parents[2]
RUNTIME = ROOT / "runtime/toolcast_runtime"
PAGE = (ROOT / "docs/security-tests.md").read_text("utf-8")
INITIALIZE_PARAMS = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}
MESSAGES = (
    {"id": 1, "method": "initialize", "params": INITIALIZE_PARAMS},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "ping", "arguments": {}}},
)


def read_line_counts() -> dict[str, int]:
    """Return the documented line count of each package or module."""
    rows = re.findall(r"^\| `([a-z_/]+)(?:/|\.py)` \| ([\d,]+) \|", PAGE, re.M)
    return {name: int(lines.replace(",", "")) for name, lines in rows}


def test_docs_runtime_package_line_counts_are_within_10_percent_or_50_lines() -> None:
    for name, lines in read_line_counts().items():
        files = [*(RUNTIME / name).rglob("*.py"), *RUNTIME.glob(f"{name}.py")]
        actual = sum(file.read_bytes().count(b"\n") for file in files)
        assert abs(actual - lines) <= max(50, lines * 0.1), f"{name}: {actual}"
    (thousands,) = re.findall(r"some (\d+),000 lines in all", PAGE)
    assert abs(int(thousands) * 1000 - sum(read_line_counts().values())) <= 600


def test_stdio_mcp_server_call_imports_only_the_documented_runtime_packages(
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
    lines = [json.dumps({"jsonrpc": "2.0", **message}) for message in MESSAGES]
    arguments = ("-X", "importtime", "-m", "generated.toy.mcp_server")
    result = project.run(*arguments, input="\n".join([*lines, ""]))
    assert '"pong"' in result.stdout, result.stderr
    loaded = set(re.findall(r"toolcast_runtime\.([\w.]+)", result.stderr))
    assert "core.registry" in loaded
    documented = [package.replace("/", ".") for package in read_line_counts()]
    # Packages whose `__init__` only declares public names.
    public_packages = {"http", "core"}
    assert {
        name
        for name in loaded - public_packages
        if not any(
            name == package or name.startswith(f"{package}.") for package in documented
        )
    } == set()
