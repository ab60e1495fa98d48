"""The rules `accept/...`; `accept.md` says what each is for."""

from __future__ import annotations

from ..findings import Severity
from .rule import Rule

RULES = (
    Rule("accept/unused", Severity.WARNING, __name__, can_be_suppressed=False),
    Rule("accept/over", Severity.WARNING, __name__, can_be_suppressed=False),
)
