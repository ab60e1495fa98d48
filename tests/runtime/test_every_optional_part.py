"""Every optional part: the error if it is missing, and which programs load it."""

from __future__ import annotations

import importlib
import json
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import PaginatedRequestParams

from tests.runtime.broken_parts import (
    HANDLERS,
    PACKAGES,
    RUNTIME,
    YES,
    BreakModules,
    make_registry,
    run_program,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime.core import optional
from toolcast_runtime.core.calls.worker_threads import run_sync
from toolcast_runtime.core.optional import OptionalPartError
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.lifespan import Lifespan
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.resources import LinkLimits


def _call(folder: Path, **fields: Any) -> Callable[[], Any]:
    registry = make_registry(folder, **fields)
    return lambda: registry.call_tool_sync("t", {}, ask=lambda question: YES)


def _build(folder: Path, **options: Any) -> Callable[[], Any]:
    return McpServer(make_registry(folder), name="demo", **options).build


def _list_skills(folder: Path) -> Callable[[], Any]:
    server = McpServer(make_registry(folder), name="demo", skills=".skills").build()
    handler: Any = server.get_request_handler("skills/list")
    return lambda: run_sync(handler.handler(None, PaginatedRequestParams()))


CONFIRM = {"message": "Really?"}
USES: dict[str, Callable[[Path], Callable[[], Any]]] = {
    "confirmation": lambda folder: _call(folder, confirm=CONFIRM),
    "questions": lambda folder: _call(folder, confirm=CONFIRM),
    "recorder": lambda folder: _call(folder, persistent=True),
    "ledger_tables": lambda folder: _call(
        folder,
        confirm=CONFIRM,
        LEDGER=LedgerSettings("toy", "NO_LEDGER", str(folder / "ledger.sqlite3")),
    ),
    "lifespan": lambda folder: _call(
        folder, uses=["db"], LIFESPAN=Lifespan(f"{HANDLERS}:opened", ("db",))
    ),
    "content_blocks": lambda folder: _build(folder, links=LinkLimits()),
    "mcp_definitions": lambda folder: _build(
        folder, mcp_resources=types.ModuleType("resources")
    ),
    "truncation": lambda folder: _call(folder, result={"send": "text"}),
    "router": lambda folder: lambda: make_registry(folder).route_tools_sync("do it"),
    "skills": _list_skills,
    "models": lambda folder: _call(folder, values="python"),
    "pydantic_functions": lambda folder: _call(folder, values="pydantic"),
    "fastmcp": lambda folder: _call(folder, values="pydantic"),
    # Only generated tests need this module.
    "tool_types": lambda folder: lambda: optional.tool_types,
}
"""Function for each module that prepares, with all parts present, a use of the module."""


@pytest.mark.parametrize("name", sorted(optional.MODULES))
def test_error_for_a_missing_runtime_module_names_its_optional_part(
    name: str, tmp_path: Path, handler_log: list[str], break_modules: BreakModules
) -> None:
    """The handler is not called."""
    part, path, _ = optional.MODULES[name]
    use = USES[name](tmp_path)
    break_modules(path)
    try:
        message = str(use().error)
    except OptionalPartError as error:
        message = str(error)
    assert f"the part `{part}` of toolcast-runtime cannot be loaded" in message
    assert not handler_log


@pytest.mark.parametrize("name", sorted(optional.MODULES))
def test_optional_runtime_module_without_a_required_function_raises_optional_part_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, path, required_names = optional.MODULES[name]
    module = importlib.import_module(path)
    for required_name in required_names:
        assert callable(getattr(module, required_name))
        with monkeypatch.context() as patched:
            patched.delattr(module, required_name)
            with pytest.raises(OptionalPartError, match=f"`{part}`"):
                getattr(optional, name)
    assert getattr(optional, name) is module


def test_unknown_name_in_the_runtimes_optional_modules_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(optional, "nothing")  # noqa: B009 - type checkers refuse the name


PARTS = (
    "cli consent external fastmcp langchain ledger lifespan prompts providers resources results"
    " router skills testing values"
).split()
MAX_MODULES = 44
"""Limit of loaded runtime modules after a stdio server has answered a call."""
LOADED_MODULES_PROGRAM = """
import atexit
from {package} import tools
from toolcast_runtime.mcp import McpServer
from toolcast_runtime import Registry

def write():
    names = [name for name in sys.modules if name.startswith("toolcast_runtime.")]
    print(*names, file=sys.stderr)

atexit.register(write)
registry = Registry(tools, handlers="tests.runtime.core_handlers")
McpServer(registry, name="demo").main([])
"""


def test_stdio_server_imports_no_optional_part_for_a_tool_without_optional_features(
    tmp_path: Path,
) -> None:
    handler = "tests.runtime.core_handlers:add"
    package = Package(tmp_path, definition("t", handler=handler))
    process = run_program(LOADED_MODULES_PROGRAM, tmp_path, (), package=package.name)
    assert process.returncode == 0, process.stderr
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    assert not any(answer["result"].get("isError") for answer in answers), answers
    modules = process.stderr.splitlines()[-1].split()
    assert f"{RUNTIME}.core.registry" in modules
    assert f"{RUNTIME}.mcp.resources_and_prompts" not in modules
    paths = [name.removeprefix(f"{RUNTIME}.").split(".") for name in modules]
    assert not {".".join(path) for path in paths if path[0] in PARTS}
    assert len(modules) <= MAX_MODULES, sorted(modules)


CORE_ONLY_PROGRAM = """
sys.meta_path.insert(0, Breaks())
from {package} import tools
from toolcast_runtime import Registry

registry = Registry(tools, handlers="tests.runtime.core_handlers")
print(registry.call_tool_sync("add", {{"a": 1, "b": 2}}).result)
print(registry.call_tool_sync("add", {{"a": 1}}).error)
print(registry.call_tool_sync("ask", {{}}, ask=print).error)
print(registry.call_tool_sync("keep", {{}}).error)
print([m for m in sys.modules if m.startswith({broken!r})])
"""


def test_tool_without_optional_features_needs_only_core(tmp_path: Path) -> None:
    """Confirmation and recording fail; a slower test removes the packages from a wheel."""
    handler = "tests.runtime.core_handlers:add"
    add = definition("add", handler=handler)
    number = {"type": "number"}
    add["mcp"]["inputSchema"] = {
        "type": "object",
        "properties": {"a": number, "b": number},
        "required": ["a", "b"],
    }
    ask = definition("ask", handler=handler, confirm={"message": "Really?"})
    keep = definition("keep", handler=handler, persistent=True)
    package = Package(tmp_path, add, ask, keep)
    process = run_program(CORE_ONLY_PROGRAM, tmp_path, PACKAGES, package=package.name)
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert lines[0] == "3" and "`add` are not valid" in lines[1], lines
    for part in ("consent", "ledger"):
        message = f"the part `{part}` of toolcast-runtime cannot be loaded"
        assert message in process.stdout
    assert lines[-1] == "[]"
