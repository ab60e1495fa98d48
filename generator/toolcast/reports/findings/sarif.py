"""Findings as SARIF."""

from __future__ import annotations

from collections.abc import Sequence

from ...findings import Finding
from ...rules.table import rules
from ..item import ItemRule
from ..sarif import sarif
from .formats import About, items

__all__ = ["write"]


def write(findings: Sequence[Finding], about: About, *, colour: bool = False) -> str:
    """A log with the rules that the findings name."""
    known = {
        rule.id: ItemRule(rule.id, rule.severity, rule.purpose, rule.why)
        for rule in rules(about.extensions).values()
    }
    return sarif(items(findings), known, about.root, "check")
