"""Every optional part: what needs it is refused by its name, and nothing else loads it."""

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
    Break,
    ended,
    registry,
)
from tests.runtime.packages import Package, definition
from toolcast_runtime.core import optional
from toolcast_runtime.core.calls.worker_threads import run_sync
from toolcast_runtime.core.optional import OptionalPartError
from toolcast_runtime.ledger import LedgerSettings
from toolcast_runtime.lifespan import Lifespan
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.resources import LinkLimits


def _call(folder: Path, **more: Any) -> Callable[[], Any]:
    made = registry(folder, **more)
    return lambda: made.call_tool_sync("t", {}, ask=lambda question: YES)


def _build(folder: Path, **more: Any) -> Callable[[], Any]:
    return McpServer(registry(folder), name="demo", **more).build


def _list_skills(folder: Path) -> Callable[[], Any]:
    server = McpServer(registry(folder), name="demo", skills=".skills").build()
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
    "router": lambda folder: lambda: registry(folder).route_tools_sync("do it"),
    "skills": _list_skills,
    "models": lambda folder: _call(folder, values="python"),
    "pydantic_functions": lambda folder: _call(folder, values="pydantic"),
    "fastmcp": lambda folder: _call(folder, values="pydantic"),
    # Needed by generated tests only.
    "tool_types": lambda folder: lambda: optional.tool_types,
}
"""What needs each module of an optional part; it is prepared while nothing is missing."""


@pytest.mark.parametrize("name", sorted(optional.MODULES))
def test_every_part_is_refused_by_its_name(
    name: str, tmp_path: Path, ran: list[str], broken: Break
) -> None:
    part, path, _ = optional.MODULES[name]
    use = USES[name](tmp_path)
    broken(path)
    try:
        refusal = str(use().error)
    except OptionalPartError as error:
        refusal = str(error)
    assert f"the part `{part}` of toolcast-runtime cannot be loaded" in refusal
    assert not ran


@pytest.mark.parametrize("name", sorted(optional.MODULES))
def test_a_module_that_lacks_a_name_is_broken(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, path, needed = optional.MODULES[name]
    module = importlib.import_module(path)
    for each in needed:
        assert callable(getattr(module, each))
        with monkeypatch.context() as patched:
            patched.delattr(module, each)
            with pytest.raises(OptionalPartError, match=f"`{part}`"):
                getattr(optional, name)
    assert getattr(optional, name) is module


def test_a_name_that_is_no_part_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(optional, "nothing")  # noqa: B009 - type checkers refuse the name


PARTS = (
    "cli consent external fastmcp langchain ledger lifespan prompts providers resources results"
    " router skills testing values"
).split()
MAX_MODULES = 44
"""Modules of the runtime that a server has loaded when it has answered a call."""
LOADED = """
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


def test_a_server_over_stdio_loads_no_part_that_it_does_not_use(tmp_path: Path) -> None:
    handler = "tests.runtime.core_handlers:add"
    package = Package(tmp_path, definition("t", handler=handler))
    done = ended(LOADED, tmp_path, (), package=package.name)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert not any(one["result"].get("isError") for one in answers), answers
    loaded = done.stderr.splitlines()[-1].split()
    assert f"{RUNTIME}.core.registry" in loaded
    steps = [name.removeprefix(f"{RUNTIME}.").split(".") for name in loaded]
    assert not {".".join(one) for one in steps if one[0] in PARTS}
    assert len(loaded) <= MAX_MODULES, sorted(loaded)


BROKEN = """
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


def test_a_tool_is_called_with_the_core_alone(tmp_path: Path) -> None:
    """The quick sibling of the test that deletes the other packages of the wheel."""
    handler = "tests.runtime.core_handlers:add"
    add = definition("add", handler=handler)
    number = {"type": "number"}
    add["mcp"]["inputSchema"] = {
        "type": "object",
        "properties": {"a": number, "b": number},
        "required": ["a", "b"],
    }
    ask = definition("ask", handler=handler, confirm={"message": "Really?"})
    package = Package(
        tmp_path, add, ask, definition("keep", handler=handler, persistent=True)
    )
    done = ended(BROKEN, tmp_path, PACKAGES, package=package.name)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "3" and "`add` are not valid" in lines[1], lines
    told = "the part `{}` of toolcast-runtime cannot be loaded"
    assert (
        told.format("consent") in done.stdout and told.format("ledger") in done.stdout
    )
    assert lines[-1] == "[]"
