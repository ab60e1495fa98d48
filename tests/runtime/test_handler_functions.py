"""Origin of handler functions: only those of the handlers package are loaded."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.file_ledger import FileLedger
from toolcast_runtime.core.calls.handlers import load_function
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.definitions.tool import Tool

PACKAGE = "own_handlers"
SOURCE = """
import functools, os, subprocess
from os import system

def own(text=""): return text
def wrapped(function):
    @functools.wraps(function)
    def wrapper(**arguments): return function(**arguments)
    return wrapper
class Shell(subprocess.Popen): ...
class Deeper(Shell):
    def act(self): ...
class Safe(subprocess.Popen):
    def __init__(self, text=""): ...
class Box:
    def act(self, text=""): return text
    def __call__(self, text=""): return text

alias = subprocess.getoutput
klass = subprocess.Popen
part = functools.partial(os.system, "true")
nested = functools.partial(functools.partial(subprocess.run), check=True)
looked_through = functools.lru_cache(subprocess.getoutput)
evaluate = eval
method = subprocess.Popen.communicate

own_part = functools.partial(own, "x")
cached = functools.lru_cache(own)
decorated = wrapped(own)
instance = Box()
bound = instance.act
unbound = Box.act
made = lambda text="": text
foreign_in_own = wrapped(subprocess.getoutput)
"""
FOREIGN = (
    "Shell Deeper system alias klass part nested looked_through evaluate method".split()
)
OWN = "own own_part cached decorated instance bound unbound made foreign_in_own Box Safe".split()


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add an importable handlers package with own and imported functions."""
    module = types.ModuleType(PACKAGE)
    exec(SOURCE, module.__dict__)
    monkeypatch.setitem(sys.modules, PACKAGE, module)
    yield


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.usefixtures("package")
def test_function_from_another_package_is_refused_as_handler(name: str) -> None:
    """Imports, aliases, partials and inherited constructors do not hide the origin."""
    with pytest.raises(ImportError, match=f"outside of `{PACKAGE}`; name a function"):
        load_function(f"{PACKAGE}:{name}", PACKAGE)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.usefixtures("package")
def test_function_of_the_handlers_package_is_loaded_as_handler(name: str) -> None:
    assert callable(load_function(f"{PACKAGE}:{name}", PACKAGE))


class Layer:
    """Callable of another package that wraps a function."""

    def __init__(self, wrapped: Any) -> None:
        self.__wrapped__ = wrapped

    def __call__(self) -> None: ...


@pytest.mark.usefixtures("package")
def test_handler_with_50_wrappers_is_refused_and_with_49_is_loaded() -> None:
    module: Any = sys.modules[PACKAGE]
    module.layered = module.own
    for _ in range(49):
        module.layered = Layer(module.layered)
    load_function(f"{PACKAGE}:layered", PACKAGE)
    module.layered = Layer(module.layered)
    with pytest.raises(ImportError, match=f"it is defined in `{__name__}`"):
        load_function(f"{PACKAGE}:layered", PACKAGE)


@pytest.mark.parametrize("package", ["other", "own", "own_handlers.inner", None])
@pytest.mark.usefixtures("package")
def test_foreign_handler_module_is_refused_without_import(package: str | None) -> None:
    """The error is the refusal, although the module does not exist."""
    undeclared = "no package of handlers is declared"
    reason = f"outside of `{package}`" if package else undeclared
    with pytest.raises(ImportError, match=f"is refused: .*{reason}"):
        load_function("absent_module:own", package)


@pytest.mark.usefixtures("package")
async def test_refused_handler_origin_is_logged_but_not_sent_to_the_caller(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool = Tool("t", "", "", {"inputSchema": {}}, handler=f"{PACKAGE}:system")
    calls = ToolCalls(handlers=PACKAGE)
    response = await calls.call(tool, None, {}, CallContext("t"))
    assert response.error is not None and "posix" not in response.error
    assert "own_handlers:system is refused: it is defined in `posix`" in caplog.text


async def test_ledger_sink_outside_the_handlers_package_makes_the_tool_call_fail(
    tmp_path: Path, handlers: Any
) -> None:
    runs: list[int] = []
    handlers.work = lambda: runs.append(1)
    handlers.sink = functools.partial(print)
    file_ledger = FileLedger(tmp_path / "unused", f"{handlers.__name__}:sink")
    assert "cannot be written" in ((await file_ledger.call("work")).error or "")
    assert runs == []
