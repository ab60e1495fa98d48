"""Generated modules import heavy libraries such as LangChain only if they need them."""

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
    "modules",
    [
        # The modules are imported in this order in one process; each value lists the new libraries.
        {
            "registry": [],
            "mcp_server": [],
            "prompts": [],
            "tools.memory": [],
            "cli": ["click"],
        },
        {"langchain_tools": ["langchain_core", "pydantic"]},
    ],
)
def test_generated_module_imports_heavy_libraries_such_as_langchain_only_if_required(
    modules: dict[str, list[str]],
) -> None:
    """Only `cli` (click) and `langchain_tools` (langchain_core, pydantic) import any."""
    program = (
        "import importlib, json, sys\n"
        "loaded, before = {}, set()\n"
        f"for module in {list(modules)}:\n"
        "    importlib.import_module(f'generated.kirishima.{module}')\n"
        f"    heavy = [m for m in {HEAVY} if m in sys.modules]\n"
        "    loaded[module] = [m for m in heavy if m not in before]\n"
        "    before.update(heavy)\n"
        "own = [m for m in sys.modules if m.startswith('examples.')]\n"
        "print(json.dumps([loaded, own]))"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True
    )
    loaded, handlers = json.loads(process.stdout)
    assert loaded == modules
    assert handlers == [], "a handler is imported before it is called"
