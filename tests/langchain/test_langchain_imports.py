"""A heavy library is loaded by the module that needs it and by no other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ["langchain_core", "langgraph", "pydantic", "mcp", "mcp_types", "click"]
HEAVY += ["jsonschema", "uvicorn", "starlette", "httpx", "toolcast", "jinja2"]


@pytest.mark.parametrize(
    ("module", "loads"),
    [
        ("registry", []),
        ("mcp_server", []),
        ("prompts", []),
        ("tools.memory", []),
        ("cli", ["click"]),
        ("langchain_tools", ["langchain_core", "pydantic"]),
    ],
)
def test_what_an_import_loads(module: str, loads: list[str]) -> None:
    program = (
        f"import sys, json, generated.kirishima.{module}\n"
        f"own = [m for m in sys.modules if m.startswith('examples.')]\n"
        f"print(json.dumps([[m for m in {HEAVY} if m in sys.modules], own]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True
    )
    loaded, handlers = json.loads(done.stdout)
    assert loaded == loads
    assert handlers == [], "a handler is imported before it is called"
