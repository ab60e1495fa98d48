"""The rules `yaml/...`; `yaml.md` says what each is for."""

from __future__ import annotations

from ..findings import Severity
from .rule import Rule

RULES = (
    Rule("yaml/ambiguous", Severity.ERROR, __name__),
    Rule("yaml/duplicate-key", Severity.ERROR, __name__),
    Rule("yaml/empty", Severity.ERROR, __name__),
    Rule("yaml/encoding", Severity.ERROR, __name__),
    Rule("yaml/feature", Severity.ERROR, __name__),
    Rule("yaml/forbidden-character", Severity.ERROR, __name__),
    Rule("yaml/invisible-character", Severity.WARNING, __name__),
    Rule("yaml/key", Severity.ERROR, __name__),
    Rule("yaml/merge-conflict", Severity.ERROR, __name__),
    Rule("yaml/syntax", Severity.ERROR, __name__),
    Rule("yaml/too-large", Severity.ERROR, __name__),
)
