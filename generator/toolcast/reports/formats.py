"""The formats of findings and of changes; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from ..findings import Finding, Place, Severity, to_show
from .item import About, Item, ItemRule, items_of_findings

if TYPE_CHECKING:
    from ..changes.review.verdict import Verdict

__all__ = ["FORMATS", "report_changes", "report_findings"]

FORMATS = ("text", "json", "github", "sarif", "markdown")
"""The words of `--format`."""

_OF_GRADES = {
    "safe": Severity.NOTE,
    "risky": Severity.WARNING,
    "breaking": Severity.ERROR,
}


def report_findings(
    findings: Sequence[Finding], format_: str, about: About | None = None
) -> str:
    """Findings in one of `FORMATS`; untrusted text is escaped for it."""
    about = about or About()
    if format_ == "github":
        from .github import workflow_commands

        return workflow_commands(items_of_findings(to_show(findings)), about.root)
    if format_ == "sarif":
        from .sarif import sarif

        items = items_of_findings(to_show(findings))
        return sarif(items, _rules_of_findings(about.extensions), about.root, "check")
    text: str = import_module(f".{format_}", __package__).findings(findings, about)
    return text


def report_changes(verdict: Verdict, format_: str, about: About) -> str:
    """A diff in one of `FORMATS`; untrusted text is escaped for it.

    Annotations and results are what a reviewer has to see: no safe changes, then the findings
    of acceptances, and those of `check` that the changes bring and mend.
    """
    if format_ not in ("github", "sarif"):
        text: str = import_module(f".{format_}", __package__).changes(verdict, about)
        return text
    from .change_items import items_of_changes

    shown = [one for one in verdict.changes if one.change.grades.worst > 0]
    of_findings = [*items_of_findings(to_show(verdict.findings)), *_of_check(verdict)]
    if format_ == "github":
        from .github import workflow_commands

        items = [*items_of_changes(shown), *of_findings]
        return workflow_commands(items, about.root)
    from .sarif import sarif

    items = [*items_of_changes(shown, each=True), *of_findings]
    return sarif(items, _rules_of_changes(about.extensions), about.root, "diff")


def _of_check(verdict: Verdict) -> list[Item]:
    """The findings of `check` that the changes bring and mend; here none of them fails."""
    brought = [
        item._replace(severity=min(item.severity, Severity.WARNING))
        for item in items_of_findings(to_show(verdict.brought))
    ]
    mended = [
        item._replace(
            severity=Severity.NOTE,
            place=Place(item.place.file),
            message=f"mended: {item.message}",
            help="",
        )
        for item in items_of_findings(to_show(verdict.mended))
    ]
    return [*brought, *mended]


def _rules_of_findings(extensions: tuple[str, ...]) -> dict[str, ItemRule]:
    """What is told of each rule of findings, by its id."""
    from ..rules.table import former_ids, rules

    before: dict[str, list[str]] = {}
    for old, present in former_ids().items():
        before.setdefault(present or "", []).append(old)

    return {
        rule.id: ItemRule(
            rule.id,
            rule.severity,
            rule.text.purpose,
            rule.text.why,
            tuple(before.get(rule.id, ())),
        )
        for rule in rules(extensions).values()
    }


def _rules_of_changes(extensions: tuple[str, ...]) -> dict[str, ItemRule]:
    """Those of changes, and of the findings beside them."""
    from ..changes.comparison import rules

    of_changes = {
        id_: ItemRule(id_, _OF_GRADES[rule.grades.worst.word], rule.means, rule.means)
        for id_, rule in rules(extensions).items()
    }
    return _rules_of_findings(extensions) | of_changes
