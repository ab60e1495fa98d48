"""Work for a call or list: access checks, validators, imports and garbage."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from generated.kirishima.mcp_server import SERVER
from toolcast_runtime.core.access import Access
from toolcast_runtime.core.calls.tool_validators import Validators
from toolcast_runtime.core.validation import checker
from toolcast_runtime.stdio.process import gc_freeze


@pytest.mark.parametrize(
    ("tool", "client", "is_found"),
    [
        ("memory", "internal", True),
        ("memory", "copilot", False),
        ("ghost", "internal", False),
    ],
)
def test_tool_call_checks_the_access_to_the_called_tool_only(
    monkeypatch: pytest.MonkeyPatch, tool: str, client: str, is_found: bool
) -> None:
    """Denied and unknown tools cause no further checks."""
    checked: list[str] = []
    is_allowed = Access.is_allowed

    def record(self: Access, client: str | None, name: str) -> bool:
        checked.append(name)
        return is_allowed(self, client, name)

    monkeypatch.setattr(Access, "is_allowed", record)
    match = asyncio.run(SERVER.find(tool, client))
    assert (match is not None) == is_found
    assert len(checked) <= 1
    assert set(checked) <= {tool}


def test_tool_schema_validator_is_compiled_only_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schemas: list[Any] = []
    compile_schema = checker.compile_schema

    def record(schema: Mapping[str, Any], *, asserts_formats: bool) -> Any:
        schemas.append(schema)
        return compile_schema(schema, asserts_formats=asserts_formats)

    monkeypatch.setattr(checker, "compile_schema", record)
    validators = Validators()
    tool = SERVER.registry.get_tool("memory", "internal")
    for _ in range(5):
        assert validators.check_arguments(tool, {"action": "nope"})
    assert schemas == [tool.parameters]


@pytest.fixture
def restored_gc() -> Iterator[None]:
    """Restore the settings of the garbage collector at the end."""
    thresholds = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("restored_gc")
def test_gc_freeze_excludes_the_created_objects_from_garbage_collection() -> None:
    """The collector is off inside the block and on afterwards, also after an error."""
    with gc_freeze():
        assert not gc.isenabled()
        objects = [[number] for number in range(1000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() >= len(objects)
    assert gc.get_threshold()[:2] == (10_000, 20)
    with pytest.raises(ValueError, match="it failed"), gc_freeze():
        raise ValueError("it failed")
    assert gc.isenabled()


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
