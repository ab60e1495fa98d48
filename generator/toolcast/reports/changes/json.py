"""A diff as JSON, by the schema that `toolcast schema diff` prints."""

from __future__ import annotations

import json
from typing import Any

from ...changes.change import ABSENT
from ...changes.effects import Effect
from ...changes.review.acceptances import Acceptance
from ...changes.review.verdict import Judged, Verdict
from ...changes.review.versions import Proposal
from ..findings.formats import About
from .formats import counts, grades_of, values_of

__all__ = ["write"]


def write(verdict: Verdict, about: About) -> str:
    """Everything that is known of the changes."""
    value = {
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
        "findings": [
            {
                "rule": finding.rule,
                "severity": finding.severity.word,
                **finding.place._asdict(),
                "message": finding.message,
                "help": finding.help,
            }
            for finding in verdict.findings
        ],
    }
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"


def _change(one: Judged) -> dict[str, Any]:
    change = one.change
    return {
        "rule": change.rule.id,
        "toolset": change.toolset,
        "tool": change.tool,
        "path": list(change.path),
        "message": change.message,
        **values_of(change),
        **({} if change.witness is ABSENT else {"witness": change.witness}),
        "grades": grades_of(change),
        "reason": change.reason,
        "fingerprint": change.fingerprint,
        "is_gone": change.is_gone,
        "place": one.place._asdict(),
        "former_place": change.place._asdict() if change.is_gone else None,
        "fails": list(one.fails),
        "accepted": one.accepted and _accepted(one.accepted),
    }


def _accepted(one: Acceptance) -> dict[str, Any]:
    until = one.until and one.until.isoformat()
    return {"reason": one.reason, "until": until, "place": one.place._asdict()}


def _effect(one: Effect) -> dict[str, Any]:
    return {
        "kind": str(one.kind),
        "reader": one.reader,
        "toolset": one.toolset,
        "tool": one.tool,
        "message": one.message,
        **values_of(one),
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
