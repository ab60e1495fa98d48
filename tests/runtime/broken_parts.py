"""Optional parts that are absent or broken, and registries with a tool that needs one."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

import pytest

import toolcast_runtime
from tests.mcp.servers import MODERN, encode_requests
from tests.runtime.packages import Package, definition
from toolcast_runtime import DeclinedError, Registry, current_call
from toolcast_runtime.consent import Answer

RUNTIME = "toolcast_runtime"
TOOL_CALL = ("tools/call", {"name": "t", "arguments": {}})
HANDLERS = "tests.runtime.handlers_of_optional_parts"
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
SECRET = {
    "type": "object",
    "properties": {"pin": {"type": "string", "writeOnly": True}},
}
YES = Answer("accept", {"approve": True, "name": "Mia"})

BreakModules = Callable[..., None]


PACKAGES = tuple(
    f"{RUNTIME}.{file.parent.name}"
    for file in Path(toolcast_runtime.__file__).parent.glob("*/__init__.py")
    if file.parent.name != "core"
)


@pytest.fixture
def handler_log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Set up a module of handlers; return the names of those that have run."""
    log: list[str] = []

    def work(**arguments: Any) -> str:
        log.append("work")
        return "done"

    def asking() -> str:
        current_call().ask_sync(FORM, "Who?")
        log.append("asking")
        return "done"

    async def asking_later() -> str:
        await current_call().ask(FORM, "Who?")
        log.append("asking_later")
        return "done"

    def stubborn() -> str:
        for _ in range(2):
            try:
                current_call().ask_sync(FORM, "Who?")
            except DeclinedError:
                continue
            log.append("stubborn")
        return "done"

    module = types.ModuleType(HANDLERS)
    for handler in (work, asking, asking_later, stubborn):
        handler.__module__ = HANDLERS
        setattr(module, handler.__name__, handler)
    monkeypatch.setitem(sys.modules, HANDLERS, module)
    return log


class BrokenModuleFinder(MetaPathFinder):
    """Import finder that raises for modules and their submodules."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._prefixes = tuple(f"{name}." for name in names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if f"{name}.".startswith(self._prefixes):
            raise SystemExit(f"{name} is broken")


@pytest.fixture(params=["absent", "empty", "broken"])
def break_modules(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BreakModules]:
    """Yield a function that makes modules absent, empty or broken at import."""
    loaded = {n: m for n, m in sys.modules.items() if _is_optional_module(n)}

    def break_modules(*modules: str) -> None:
        # Modules that have already imported a broken module would still use it.
        for name in filter(_is_optional_module, [*sys.modules]):
            del sys.modules[name]
        if request.param == "broken":
            monkeypatch.setattr(
                sys, "meta_path", [BrokenModuleFinder(modules), *sys.meta_path]
            )
            return
        for name in modules:
            module = None if request.param == "absent" else types.ModuleType(name)
            sys.modules[name] = module  # type: ignore[assignment]

    yield break_modules
    for name in filter(_is_optional_module, [*sys.modules]):
        del sys.modules[name]
    sys.modules.update(loaded)
    for name, module in loaded.items():
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)


def _is_optional_module(module: str) -> bool:
    return module.startswith(f"{RUNTIME}.") and module.split(".")[1] != "core"


def make_registry(folder: Path, *, schema: Any = None, **fields: Any) -> Registry:
    """Return a registry with a tool `t`.

    Fields in upper case are options of the registry; the others are fields of the definition.
    """
    tool_fields = {"handler": f"{HANDLERS}:work", **fields}
    options = {name.lower(): tool_fields.pop(name) for name in fields if name.isupper()}
    tool = definition("t", **tool_fields)
    if schema is not None:
        tool["mcp"]["inputSchema"] = schema
    return Registry(Package(folder, tool).load(), handlers=HANDLERS, **options)


BREAKS = """
import sys
from importlib.abc import MetaPathFinder

class Breaks(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith({broken!r}):
            raise SystemError(f"{{name}} is broken")

sys.path[:0] = [{folder!r}, {root!r}]
"""
"""Import finder for the start of a program, which breaks modules by their prefixes."""


def run_program(
    program: str,
    folder: Path,
    break_modules: tuple[str, ...],
    *arguments: str,
    **fields: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a program after `BREAKS` in a process with a list request and a call as stdin."""
    root = str(Path(__file__).parents[2])
    fields = {"folder": str(folder), "root": root, "broken": break_modules, **fields}
    text = (BREAKS + program).format(**fields)
    return subprocess.run(
        [sys.executable, "-c", text, *arguments],
        cwd=folder,
        input=encode_requests(MODERN, ("tools/list", {}), TOOL_CALL),
        capture_output=True,
        text=True,
        check=False,
    )
