"""The published JSON Schemas of the spec language, as they are shipped."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ..shipped import shipped

__all__ = ["KINDS", "schema", "schema_text"]

KINDS = ("tool", "toolset", "workspace")


def schema_text(kind: str) -> str:
    """The JSON text of the schema of `tool`, `toolset` or `workspace` files."""
    return shipped("schemas", f"{kind}.schema.json").decode("utf-8")


@cache
def schema(kind: str) -> dict[str, Any]:
    """The schema of `tool`, `toolset` or `workspace` files."""
    loaded: dict[str, Any] = json.loads(schema_text(kind))
    return loaded
