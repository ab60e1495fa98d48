"""Ledger in a file with calls of persistent tools that it records."""

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
    """Yield an importable module to which tests add handlers."""
    module = types.ModuleType(HANDLERS)
    monkeypatch.setitem(sys.modules, HANDLERS, module)
    yield module


class FileLedger:
    """Calls of persistent tools that are recorded in a ledger file."""

    def __init__(self, path: Path, sink: str | None = None) -> None:
        self.path = path
        self.settings = LedgerSettings("toys", "NO_LEDGER_VARIABLE", str(path), sink)
        self.calls = ToolCalls(self.settings, "tests")

    async def call(
        self, name: str, arguments: Any = None, client: str = "internal", **fields: Any
    ) -> ToolResponse:
        """Call the handler `name` as a persistent tool with further `Tool` fields."""
        schema = fields.pop("schema", {"type": "object"})
        tool = Tool(
            name,
            "",
            "",
            {"name": name, "inputSchema": schema},
            handler=f"{HANDLERS}:{name}",
            persistent=True,
            **fields,
        )
        context = CallContext(name, client)
        return await self.calls.call(tool, None, arguments or {}, context)

    def rows(self) -> list[dict[str, Any]]:
        """Return the recorded calls in order of their start."""
        with closing(sqlite3.connect(self.path)) as connection:
            connection.row_factory = sqlite3.Row
            return [
                dict(row)
                for row in connection.execute("SELECT * FROM calls ORDER BY started")
            ]


@pytest.fixture
def file_ledger(tmp_path: Path, handlers: types.ModuleType) -> FileLedger:
    return FileLedger(tmp_path / "state" / "ledger.sqlite3")
