"""JSON text of JSON values, as the MCP SDK writes it and as people read it."""

from __future__ import annotations

import json
import re
from typing import Any

from .code import Code

__all__ = ["compact", "pretty"]

_EXPONENT = re.compile(r"e([-+])0*")


def pretty(value: Any) -> Code:
    """Indented JSON with a final newline; keys stay in their order."""
    return Code(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def compact(value: Any) -> str:
    """JSON without spaces; keys stay in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
