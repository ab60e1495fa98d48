"""The registry of tools: one name, one row in the whole organisation."""

from __future__ import annotations

import uuid
from typing import Any

from .built_ins import BUILT_INS
from .refused import RequestRefusedError
from .rows import Tool

__all__ = ["Registry"]

_LONGEST_NAME = 48


class Registry:
    """An organisation's tools."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}
        self._clock = 0
        self.ensure_built_ins()

    def new_id(self, kind: str) -> str:
        """`kind-<uuid4>`."""
        return f"{kind}-{uuid.uuid4()}"

    def tool_named(self, name: str) -> Tool | None:
        """The organisation's tool of a name; names are unique."""
        return next((t for t in self.tools.values() if t.name == name), None)

    def upsert(self, name: str, **values: Any) -> Tool:
        """Letta's upsert by name: what is there keeps its id and nothing else.

        Settings go back to their defaults; tags are kept when none are given. So a tool
        of another owner, a built-in too, changes hands.
        """
        if len(name) > _LONGEST_NAME:
            raise RequestRefusedError(
                400,
                f"Tool name {name} is too long. It must be less than"
                f" {_LONGEST_NAME} characters.",
            )
        self._clock += 1
        there = self.tool_named(name)
        row = Tool(self.new_id("tool"), name, created=self._clock, **values)
        if there is not None:
            row.id, row.created = there.id, there.created
            row.tags = row.tags or there.tags
        self.tools[row.id] = row
        return row

    def ensure_built_ins(self) -> None:
        """Upserts every built-in tool by its name."""
        for kind, names in BUILT_INS.items():
            for name in names:
                schema = {
                    "name": name,
                    "description": f"{name}.",
                    "parameters": {"type": "object", "properties": {}, "required": []},
                }
                self.upsert(
                    name,
                    tool_type=kind,
                    description=f"{name}.",
                    json_schema=schema,
                    tags=[kind],
                )

    def custom_tool(self, name: str, **values: Any) -> Tool:
        """A Python tool, as a person creates it."""
        schema = {
            "name": name,
            "description": f"{name}.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        }
        given = {"json_schema": schema, "description": f"{name}.", **values}
        return self.upsert(name, tool_type="custom", **given)

    def list_tools(
        self,
        *,
        limit: int | None = 50,
        after: str | None = None,
        before: str | None = None,
        ascending: bool = False,
        names: list[str] | None = None,
        types: list[str] | None = None,
    ) -> list[Tool]:
        """A page. Not a pure read: a page without every built-in upserts them all."""
        page = self.page(limit, after, before, ascending, names, types)
        wanted = {name for group in BUILT_INS.values() for name in group}
        if not after and wanted - {tool.name for tool in page}:
            self.ensure_built_ins()
            page = self.page(limit, after, before, ascending, names, types)
        return page

    def page(
        self,
        limit: int | None,
        after: str | None = None,
        before: str | None = None,
        ascending: bool = False,
        names: list[str] | None = None,
        types: list[str] | None = None,
    ) -> list[Tool]:
        """As many rows as asked for, of those that match; nothing else happens."""

        def key(tool: Tool) -> tuple[int, str]:
            return tool.created, tool.id

        rows = sorted(self.tools.values(), key=key, reverse=not ascending)
        if names is not None:
            rows = [tool for tool in rows if tool.name in names]
        if types is not None:
            rows = [tool for tool in rows if tool.tool_type in types]
        for cursor, is_after in ((after, True), (before, False)):
            at = self.tools.get(cursor or "")
            if at is not None:
                later = ascending if is_after else not ascending
                rows = [t for t in rows if (key(t) > key(at)) == later and t is not at]
        return rows[:limit]

    def delete_tool(self, tool_id: str) -> None:
        """Deletes a row."""
        del self.tools[tool_id]
