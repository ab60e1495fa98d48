"""Handlers of the wiki's tools, which return their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["echo", "return_list"]


def echo(arguments: Mapping[str, Any], /) -> Mapping[str, Any]:
    return {"arguments": dict(arguments)}


def return_list(arguments: Mapping[str, Any], /) -> list[Any]:
    return [dict(arguments)]
