"""A ledger in a file, and persistent tools whose calls go to it."""

from __future__ import annotations

import sqlite3
import sys
import types
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from toolcast_runtime import CallContext, ToolResponse
from toolcast_runtime.core.calls.tool_calls import ToolCalls
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.ledger import LedgerSettings

HANDLERS = "tests.runtime.ledger_handlers"


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    module = types.ModuleType(HANDLERS)
    monkeypatch.setitem(sys.modules, HANDLERS, module)
    yield module


class Kept:
    """A ledger in a file, with calls that go to it."""

    def __init__(self, path: Path, sink: str | None = None) -> None:
        self.path = path
        self.settings = LedgerSettings("toys", "NO_LEDGER_VARIABLE", str(path), sink)
        self.calls = ToolCalls(self.settings, "tests")

    async def call(
        self, name: str, arguments: Any = None, client: str = "internal", **more: Any
    ) -> ToolResponse:
        schema = more.pop("schema", {"type": "object"})
        tool = Tool(
            name,
            "",
            "",
            {"name": name, "inputSchema": schema},
            handler=f"{HANDLERS}:{name}",
            persistent=True,
            **more,
        )
        context = CallContext(name, client)
        return await self.calls.call(tool, None, arguments or {}, context)

    def rows(self) -> list[dict[str, Any]]:
        with closing(sqlite3.connect(self.path)) as connection:
            connection.row_factory = sqlite3.Row
            return [
                dict(row)
                for row in connection.execute("SELECT * FROM calls ORDER BY started")
            ]


@pytest.fixture
def kept(tmp_path: Path, handlers: types.ModuleType) -> Kept:
    return Kept(tmp_path / "state" / "ledger.sqlite3")
