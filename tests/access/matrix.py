"""Parsed table of access: the tools that each client may list and call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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


cells = pytest.mark.parametrize(("client", "tool"), MATRIX)
local_cells = pytest.mark.parametrize(
    ("client", "tool"), [c for c in MATRIX if c[1] in LOCAL]
)


def is_allowed(client: str, tool: str) -> bool:
    return MATRIX[client, tool] != "-"


def get_names(tools: list[Any]) -> set[str]:
    return {tool.get("name") or tool["function"]["name"] for tool in tools}
