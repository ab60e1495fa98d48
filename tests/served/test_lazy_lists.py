"""Modules that tool lists import: definitions only, no tool types and no handlers."""

from __future__ import annotations

import json
from typing import Any

import pytest

CODES = (
    "registry.get_mcp_tools_sync('internal')",
    "registry.get_openai_tools_sync('internal')",
    "registry.get_openai_tools_by_names_sync(['memory'], 'internal')",
    "registry.get_always_tools_sync('internal')",
    "registry.get_routed_tools_catalog_sync('internal')",
    "registry.get_tool('memory', 'internal')",
    "from generated.kirishima.mcp_server import SERVER; SERVER.list_tools('copilot')",
    "from generated.kirishima import langchain_tools as wrapped; "
    "wrapped.get_langchain_tools('internal')",
)
PROGRAM = f"""
import json, sys
from generated.kirishima import registry
loaded = {{}}
for code in {CODES!r}:
    exec(code)
    loaded[code] = [
        name
        for name in sys.modules
        if name.startswith(("generated.kirishima.tools.", "examples."))
    ]
print(json.dumps(loaded))
"""


@pytest.mark.slow
def test_listing_tools_imports_no_generated_tool_module_and_no_handler(
    project_copy: Any,
) -> None:
    process = project_copy.run("-c", PROGRAM)
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == {code: [] for code in CODES}
