"""JSON reports, in the schemas of `toolcast schema findings` and `toolcast schema diff`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..diff.change import ABSENT, AUDIENCES, Change
from ..findings import Finding, limit_findings
from .change_items import count_by_grade
from .item import ReportContext, add_fingerprints

if TYPE_CHECKING:
    from ..diff.effects import Effect
    from ..diff.review.acceptances import Acceptance
    from ..diff.review.verdict import ChangeVerdict, Proposal, Verdict


def render_findings(findings: Sequence[Finding], context: ReportContext) -> str:
    """Render findings, and their number by severity, rule and file."""
    severities = Counter(finding.severity.label for finding in findings)
    summary = {
        "tools": context.tools,
        "outputs": context.outputs,
        "severities": {word: severities[word] for word in ("error", "warning", "note")},
        "rules": dict(sorted(Counter(f.rule for f in findings).items())),
        "files": dict(sorted(Counter(f.location.file for f in findings).items())),
    }
    finding_objects = [
        {**_finding_object(finding), "fingerprint": fingerprint}
        for finding, fingerprint in add_fingerprints(limit_findings(findings))
    ]
    return _encode({"summary": summary, "findings": finding_objects})


def render_changes(verdict: Verdict, context: ReportContext) -> str:
    """Render all changes with their grades, effects, proposed versions and findings."""
    return _encode(
        {
            "against": verdict.against,
            "fail_on": {name: grade.label for name, grade in verdict.limits.items()},
            "summary": {
                "changes": len(verdict.changes),
                "failing": verdict.failing,
                "accepted": verdict.accepted,
                "grades": count_by_grade(verdict),
            },
            "changes": [_change_object(change) for change in verdict.changes],
            "effects": [_effect_object(effect) for effect in verdict.effects],
            "versions": [_version_object(proposal) for proposal in verdict.proposals],
            "findings": _finding_objects(verdict.findings),
            "introduced": _finding_objects(verdict.added),
            "fixed": _finding_objects(verdict.fixed),
        }
    )


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _finding_objects(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [_finding_object(finding) for finding in limit_findings(findings)]


def _finding_object(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.label,
        **finding.location._asdict(),
        "message": finding.message,
        "help": finding.help,
    }


def _change_object(judged: ChangeVerdict) -> dict[str, Any]:
    change = judged.change
    grades = zip(AUDIENCES, change.grades, strict=True)
    is_old = change.is_in_old_version
    return {
        "rule": change.rule.id,
        "toolset": change.toolset,
        "tool": change.tool,
        "path": list(change.path),
        "message": change.message,
        **_value_members(change),
        **({} if change.witness is ABSENT else {"witness": change.witness}),
        "grades": {audience: grade.label for audience, grade in grades},
        "reason": change.reason,
        "fingerprint": change.fingerprint,
        "is_removed": is_old,
        "location": judged.location._asdict(),
        "previous_location": change.location._asdict() if is_old else None,
        "fails": list(judged.fails),
        "accepted": judged.accepted and _acceptance_object(judged.accepted),
    }


def _value_members(difference: Change | Effect) -> dict[str, Any]:
    """Return `before` and `after`, without an absent value."""
    values = {"before": difference.before, "after": difference.after}
    return {name: value for name, value in values.items() if value is not ABSENT}


def _acceptance_object(acceptance: Acceptance) -> dict[str, Any]:
    return {
        "reason": acceptance.reason,
        "until": acceptance.until and acceptance.until.isoformat(),
        "location": acceptance.location._asdict(),
    }


def _effect_object(effect: Effect) -> dict[str, Any]:
    return {
        "kind": str(effect.kind),
        "reader": effect.reader,
        "toolset": effect.toolset,
        "tool": effect.tool,
        "message": effect.message,
        **_value_members(effect),
        "is_worse": effect.is_worse,
    }


def _version_object(proposal: Proposal) -> dict[str, Any]:
    return {
        "toolset": proposal.toolset,
        "before": proposal.before or None,
        "now": proposal.now or None,
        "step": proposal.step,
        "proposed": proposal.version or None,
        "is_enough": proposal.is_enough,
        "reason": proposal.reason,
    }
