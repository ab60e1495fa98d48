"""Findings and changes as JSON, by the schemas that `toolcast schema findings` and `schema
diff` print."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..diff.change import ABSENT, AUDIENCES, Change
from ..findings import Finding, limit_findings
from .change_items import counts
from .item import ReportContext, fingerprinted

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.acceptances import Acceptance
    from ..diff.review.verdict import ChangeVerdict, Proposal, Verdict


def findings(found: Sequence[Finding], about: ReportContext) -> str:
    """Their number by severity, rule and file, and each of them."""
    severities = Counter(finding.severity.word for finding in found)
    numbers = {
        "tools": about.tools,
        "outputs": about.outputs,
        "severities": {word: severities[word] for word in ("error", "warning", "note")},
        "rules": dict(sorted(Counter(f.rule for f in found).items())),
        "files": dict(sorted(Counter(f.location.file for f in found).items())),
    }
    listed = [
        {**_finding(finding), "fingerprint": fingerprint}
        for finding, fingerprint in fingerprinted(limit_findings(found))
    ]
    return _text({"summary": numbers, "findings": listed})


def changes(verdict: Verdict, about: ReportContext) -> str:
    """Everything that is known of the changes."""
    return _text(
        {
            "against": verdict.against,
            "fail_on": {name: grade.word for name, grade in verdict.limits.items()},
            "summary": {
                "changes": len(verdict.changes),
                "failing": verdict.failing,
                "accepted": verdict.accepted,
                "grades": counts(verdict),
            },
            "changes": [_change(one) for one in verdict.changes],
            "effects": [_effect(one) for one in verdict.effects],
            "versions": [_version(one) for one in verdict.proposals],
            "findings": _findings(verdict.findings),
            "brought": _findings(verdict.added),
            "mended": _findings(verdict.fixed),
        }
    )


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _findings(found: Iterable[Finding]) -> list[dict[str, Any]]:
    return [_finding(one) for one in limit_findings(found)]


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.word,
        **finding.location._asdict(),
        "message": finding.message,
        "help": finding.help,
    }


def _change(one: ChangeVerdict) -> dict[str, Any]:
    change = one.change
    graded = zip(AUDIENCES, change.grades, strict=True)
    return {
        "rule": change.rule.id,
        "toolset": change.toolset,
        "tool": change.tool,
        "path": list(change.path),
        "message": change.message,
        **_values(change),
        **({} if change.witness is ABSENT else {"witness": change.witness}),
        "grades": {name: grade.word for name, grade in graded},
        "reason": change.reason,
        "fingerprint": change.fingerprint,
        "is_gone": change.is_in_old_version,
        "place": one.location._asdict(),
        "former_place": change.location._asdict() if change.is_in_old_version else None,
        "fails": list(one.fails),
        "accepted": one.accepted and _accepted(one.accepted),
    }


def _values(one: Change | Effect) -> dict[str, Any]:
    """`before` and `after`, each where there is one."""
    values = {"before": one.before, "after": one.after}
    return {name: value for name, value in values.items() if value is not ABSENT}


def _accepted(one: Acceptance) -> dict[str, Any]:
    until = one.until and one.until.isoformat()
    return {"reason": one.reason, "until": until, "place": one.location._asdict()}


def _effect(one: Effect) -> dict[str, Any]:
    return {
        "kind": str(one.kind),
        "reader": one.reader,
        "toolset": one.toolset,
        "tool": one.tool,
        "message": one.message,
        **_values(one),
        "is_worse": one.is_worse,
    }


def _version(one: Proposal) -> dict[str, Any]:
    return {
        "toolset": one.toolset,
        "before": one.before or None,
        "now": one.now or None,
        "step": one.step,
        "proposed": one.version or None,
        "is_enough": one.is_enough,
        "reason": one.reason,
    }
