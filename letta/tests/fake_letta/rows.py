"""The rows of the fake server's database: tools, MCP server entries, agents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Agent", "Entry", "Tool", "is_id"]


@dataclass
class Tool:
    """A tool of the registry."""

    id: str
    name: str
    tool_type: str
    created: int
    description: str | None = None
    json_schema: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    metadata_: dict[str, Any] = field(default_factory=dict)
    source_code: str | None = None
    return_char_limit: int = 50_000
    default_requires_approval: bool | None = None
    enable_parallel_execution: bool = False

    def encode(self) -> dict[str, Any]:
        """Return the tool's JSON form."""
        row = dict(vars(self))
        del row["created"]
        row |= {"source_type": "python", "args_json_schema": None, "project_id": None}
        return row


@dataclass
class Entry:
    """An entry of an MCP server."""

    id: str
    server_name: str
    config: dict[str, Any]

    def encode(self) -> dict[str, Any]:
        """Return the entry's JSON form, with secrets in plain text."""
        return {**self.config, "server_name": self.server_name, "id": self.id}

    def headers(self, secrets: Mapping[str, str]) -> dict[str, str]:
        """Return the request headers, with the agent's variables inserted."""
        headers = dict(self.config.get("custom_headers") or {})
        if self.config.get("auth_header") and self.config.get("auth_token"):
            headers[self.config["auth_header"]] = self.config["auth_token"]

        def fill(match: re.Match[str]) -> str:
            name, _, default = match[1].partition("|")
            return secrets.get(name.strip(), default.strip())

        return {
            key: re.sub(r"\{\{(.*?)\}\}", fill, value) for key, value in headers.items()
        }


@dataclass
class Agent:
    """An agent."""

    id: str
    name: str
    agent_type: str
    tool_ids: list[str] = field(default_factory=list)
    tool_rules: list[dict[str, Any]] = field(default_factory=list)
    llm_config: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    passages: dict[str, dict[str, Any]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    last_stop_reason: str | None = None
    pending_approval: dict[str, Any] | None = None


def is_id(kind: str, text: str) -> bool:
    """Return whether a text has the form `kind-<uuid4>`."""
    pattern = (
        rf"{kind}-[0-9a-f]{{8}}-[0-9a-f]{{4}}-4[0-9a-f]{{3}}-[89ab][0-9a-f]{{3}}"
        r"-[0-9a-f]{12}"
    )
    return re.fullmatch(pattern, text) is not None
