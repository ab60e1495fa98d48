"""A diff as SARIF."""

from __future__ import annotations

from ...changes.change import ChangeRule, Grade
from ...changes.review.verdict import Verdict
from ...changes.table import rules as change_rules
from ...findings import Severity
from ...rules.table import rules
from ..item import ItemRule
from ..sarif import sarif
from .formats import DiffAbout, items

__all__ = ["write"]

_SEVERITIES = {
    Grade.SAFE: Severity.NOTE,
    Grade.RISKY: Severity.WARNING,
    Grade.BREAKING: Severity.ERROR,
}


def write(verdict: Verdict, about: DiffAbout) -> str:
    """A log with the rules that the changes name."""
    known = {
        rule.id: ItemRule(rule.id, rule.severity, rule.purpose, rule.why)
        for rule in rules(about.extensions).values()
    }
    known |= {id_: _rule(rule) for id_, rule in change_rules(about.extensions).items()}
    return sarif(items(verdict), known, about.root, "diff")


def _rule(rule: ChangeRule) -> ItemRule:
    severity = _SEVERITIES[rule.grades.worst]
    return ItemRule(rule.id, severity, rule.means, rule.means)
