"""Lists load definitions alone: no types, no handlers."""

from __future__ import annotations

import json
from typing import Any

import pytest

REGISTRY = """
import json, sys
from generated.kirishima import registry
before = set(sys.modules)
CODE
own = [m for m in sys.modules if m.startswith(("generated.kirishima.tools.", "examples."))]
print(json.dumps(own))
"""


@pytest.mark.parametrize(
    "code",
    [
        "registry.get_mcp_tools_sync('internal')",
        "registry.get_openai_tools_sync('internal')",
        "registry.get_openai_tools_by_names_sync(['memory'], 'internal')",
        "registry.get_always_tools_sync('internal')",
        "registry.get_routed_tools_catalog_sync('internal')",
        "from generated.kirishima.mcp_server import SERVER\nSERVER.list_tools('copilot')",
        "from generated.kirishima import langchain_tools as wrapped\n"
        "wrapped.get_langchain_tools('internal')",
    ],
)
def test_a_list_imports_no_tool_and_no_handler(project_copy: Any, code: str) -> None:
    ran = project_copy.run("-c", REGISTRY.replace("CODE", code))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == []


def test_a_tool_that_is_looked_up_imports_nothing(project_copy: Any) -> None:
    ran = project_copy.run(
        "-c", REGISTRY.replace("CODE", "registry.get_tool('memory', 'internal')")
    )
    assert json.loads(ran.stdout) == []
