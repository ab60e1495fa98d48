"""What the tools of the wiki do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["echo", "listed"]


def echo(arguments: Mapping[str, Any], /) -> Mapping[str, Any]:
    return {"got": dict(arguments)}


def listed(arguments: Mapping[str, Any], /) -> list[Any]:
    return [dict(arguments)]
