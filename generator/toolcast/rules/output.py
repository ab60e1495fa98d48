"""The rules `output/...`; `output.md` says what each is for."""

from __future__ import annotations

from ..findings import Severity
from .rule import Rule

RULES = (
    Rule("output/missing", Severity.ERROR, __name__),
    Rule("output/differs", Severity.ERROR, __name__),
    Rule("output/orphaned", Severity.ERROR, __name__),
    Rule("output/foreign", Severity.ERROR, __name__),
    Rule("output/link", Severity.ERROR, __name__),
    Rule("output/region", Severity.ERROR, __name__),
    Rule("output/marker", Severity.ERROR, __name__),
)
