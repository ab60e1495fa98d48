"""Fixtures for toolsets with a lifespan in this process."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.lifespan import Lifespan

LIFESPAN = """
    from __future__ import annotations
    import asyncio
    import threading
    from contextlib import asynccontextmanager, contextmanager

    events = []

    class Database:
        def __init__(self):
            self.rows = []

    @asynccontextmanager
    async def lifespan():
        events.append("opened")
        entered = asyncio.current_task()
        try:
            yield {"db": Database()}
        finally:
            events.append("closed")
            assert asyncio.current_task() is entered

    async def add(text, *, db):
        db.rows.append(text)
        return len(db.rows)

    def plain(*, db):
        return len(db.rows)
"""


class Toolset:
    """A registry and the module of its handlers.

    Attributes:
        registry: a registry with the tools `add` (with `text`), `plain` and a test's
            own.
        work: the module.
    """

    def __init__(self, folder: Path, source: str, **tools: Mapping[str, Any]) -> None:
        self.package = Package(folder)
        name = self.package.name
        text = {"type": "object", "properties": {"text": {"type": "string"}}}
        tools = {"add": text, "plain": {"type": "object"}, **tools}
        for tool, schema in tools.items():
            handler = f"{name}.work:{tool}"
            written = definition(tool, handler=handler, uses=["db"])
            written["mcp"]["inputSchema"] = schema
            self.package.write(written)
        work = folder / name / "work.py"
        work.write_text(textwrap.dedent(source), encoding="utf-8")
        self.registry = self.make_registry()
        self.work: ModuleType = importlib.import_module(f"{name}.work")

    def make_registry(self) -> Registry:
        """Return another registry of the same functions."""
        name = self.package.name
        lifespan = Lifespan(f"{name}.work:lifespan", ("db",))
        return Registry(self.package.load(), handlers=name, lifespan=lifespan)

    @property
    def events(self) -> list[str]:
        """The recorded starts and ends of the lifespan."""
        found: list[str] = self.work.events
        return found


@pytest.fixture
def make_toolset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Toolset]]:
    """Yield a function that makes toolsets of `LIFESPAN` and a source; close them."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    made: list[Toolset] = []

    def make(source: str = "", **tools: Mapping[str, Any]) -> Toolset:
        text = textwrap.dedent(LIFESPAN) + textwrap.dedent(source)
        made.append(Toolset(tmp_path, text, **tools))
        return made[-1]

    yield make
    from toolcast_runtime.core.calls.worker_threads import run_sync

    for toolset in made:
        run_sync(toolset.registry.close())


@pytest.fixture
def toolset(make_toolset: Callable[..., Toolset]) -> Toolset:
    """Return a toolset of `LIFESPAN`."""
    return make_toolset()
