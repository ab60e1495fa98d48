"""The registry of tools: tool names are unique in an organization."""

from __future__ import annotations

import uuid
from typing import Any

from .built_ins import BUILT_INS
from .errors import RequestRefusedError
from .rows import Tool

__all__ = ["Registry"]

_MAX_NAME_LENGTH = 48


class Registry:
    """The tools of an organization."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}
        self._clock = 0
        self.ensure_built_ins()

    def new_id(self, kind: str) -> str:
        """Return a new id, `kind-<uuid4>`."""
        return f"{kind}-{uuid.uuid4()}"

    def find_tool(self, name: str) -> Tool | None:
        """Return the tool with a name, or None."""
        return next((t for t in self.tools.values() if t.name == name), None)

    def upsert(self, name: str, **values: Any) -> Tool:
        """Insert or update a tool by name, as Letta does.

        An existing tool keeps its id, and its tags if none are passed. Its settings are
        reset, so that a tool of another owner, even a built-in tool, changes its owner.
        """
        if len(name) > _MAX_NAME_LENGTH:
            raise RequestRefusedError(
                400,
                f"Tool name {name} is too long. It must be less than"
                f" {_MAX_NAME_LENGTH} characters.",
            )
        self._clock += 1
        existing = self.find_tool(name)
        row = Tool(self.new_id("tool"), name, created=self._clock, **values)
        if existing is not None:
            row.id, row.created = existing.id, existing.created
            row.tags = row.tags or existing.tags
        self.tools[row.id] = row
        return row

    def ensure_built_ins(self) -> None:
        """Insert or update every built-in tool."""
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

    def add_custom_tool(self, name: str, **values: Any) -> Tool:
        """Add a custom Python tool."""
        schema = {
            "name": name,
            "description": f"{name}.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        }
        fields = {"json_schema": schema, "description": f"{name}.", **values}
        return self.upsert(name, tool_type="custom", **fields)

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
        """Return a page; restore all built-in tools if the page lacks one."""
        page = self.page(limit, after, before, ascending, names, types)
        built_in_names = {name for group in BUILT_INS.values() for name in group}
        if not after and built_in_names - {tool.name for tool in page}:
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
        """Return a page of the tools that match, without side effects."""

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
        """Delete a row."""
        del self.tools[tool_id]
