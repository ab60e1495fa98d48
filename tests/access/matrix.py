"""Parsed table of access: the tools that each client may list and call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from generated.kirishima import registry

ROWS = [
    line.split()
    for line in (Path(__file__).parent / "matrix.txt").read_text().splitlines()
    if not line.startswith("#")
]
CLIENTS = ROWS[0][1:]
MATRIX = {
    (c, row[0]): cell
    for row in ROWS[1:]
    for c, cell in zip(CLIENTS, row[1:], strict=True)
}
TOOLS = [row[0] for row in ROWS[1:]]
LOCAL = [tool.name for tool in registry.REGISTRY.local_tools]


def list_allowed(client: str, *cells: str) -> set[str]:
    """Return the tools whose cell is one of these, by default any that allows the tool."""
    allowed = {*cells} or {"always", "routed"}
    return {tool for tool in TOOLS if MATRIX[client, tool] in allowed}


def allows(client: str, tool: str) -> bool:
    return MATRIX[client, tool] != "-"


def get_names(tools: list[Any]) -> set[str]:
    return {tool.get("name") or tool["function"]["name"] for tool in tools}
