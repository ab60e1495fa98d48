"""Optional parts that are absent or broken, and a registry that needs one."""

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
from tests.mcp.servers import MODERN, sent
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

Break = Callable[..., None]


PACKAGES = tuple(
    f"{RUNTIME}.{file.parent.name}"
    for file in Path(toolcast_runtime.__file__).parent.glob("*/__init__.py")
    if file.parent.name != "core"
)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the handlers have done."""
    done: list[str] = []

    def work(**arguments: Any) -> str:
        done.append("work")
        return "done"

    def asking() -> str:
        current_call().ask_sync(FORM, "Who?")
        done.append("asking")
        return "done"

    async def asking_later() -> str:
        await current_call().ask(FORM, "Who?")
        done.append("asking_later")
        return "done"

    def stubborn() -> str:
        for _ in range(2):
            try:
                current_call().ask_sync(FORM, "Who?")
            except DeclinedError:
                continue
            done.append("stubborn")
        return "done"

    module = types.ModuleType(HANDLERS)
    for handler in (work, asking, asking_later, stubborn):
        handler.__module__ = HANDLERS
        setattr(module, handler.__name__, handler)
    monkeypatch.setitem(sys.modules, HANDLERS, module)
    return done


class Broken(MetaPathFinder):
    """Raises at the import of modules, and of those below them."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._below = tuple(f"{name}." for name in names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if f"{name}.".startswith(self._below):
            raise SystemExit(f"{name} is broken")


@pytest.fixture(params=["absent", "empty", "broken"])
def broken(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Break]:
    """Makes modules of the runtime absent, empty or broken at import."""
    loaded = {n: m for n, m in sys.modules.items() if _is_beside_core(n)}

    def broken(*modules: str) -> None:
        # Modules that have imported the broken one would go on with it.
        for each in filter(_is_beside_core, [*sys.modules]):
            del sys.modules[each]
        if request.param == "broken":
            monkeypatch.setattr(sys, "meta_path", [Broken(modules), *sys.meta_path])
            return
        for name in modules:
            there = None if request.param == "absent" else types.ModuleType(name)
            sys.modules[name] = there  # type: ignore[assignment]

    yield broken
    for each in filter(_is_beside_core, [*sys.modules]):
        del sys.modules[each]
    sys.modules.update(loaded)
    for name, module in loaded.items():
        parent, _, child = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], child, module)


def _is_beside_core(module: str) -> bool:
    return module.startswith(f"{RUNTIME}.") and module.split(".")[1] != "core"


def registry(folder: Path, *, schema: Any = None, **more: Any) -> Registry:
    """The registry of a tool `t`; what is in capitals is the registry's, in small letters."""
    tool = {"handler": f"{HANDLERS}:work", **more}
    own = {name.lower(): tool.pop(name) for name in more if name.isupper()}
    one = definition("t", **tool)
    if schema is not None:
        one["mcp"]["inputSchema"] = schema
    return Registry(Package(folder, one).load(), handlers=HANDLERS, **own)


BREAKS = """
import sys
from importlib.abc import MetaPathFinder

class Breaks(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith({broken!r}):
            raise SystemError(f"{{name}} is broken")

sys.path[:0] = [{folder!r}, {root!r}]
"""
"""Before a program that says from when on modules below some names are missing."""


def ended(
    program: str, folder: Path, broken: tuple[str, ...], *words: str, **more: Any
) -> subprocess.CompletedProcess[str]:
    """How a program has ended in a process of its own."""
    root = str(Path(__file__).parents[2])
    given = {"folder": str(folder), "root": root, "broken": broken, **more}
    text = (BREAKS + program).format(**given)
    return subprocess.run(
        [sys.executable, "-c", text, *words],
        cwd=folder,
        input=sent(MODERN, ("tools/list", {}), TOOL_CALL),
        capture_output=True,
        text=True,
        check=False,
    )
