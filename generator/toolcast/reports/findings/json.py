"""Findings as JSON, by the schema that `toolcast schema findings` prints."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

from ...findings import Finding, to_show
from .formats import About, fingerprinted

__all__ = ["write"]


def write(findings: Sequence[Finding], about: About) -> str:
    """Their number by severity, rule and file, and each of them."""
    severities = Counter(finding.severity.word for finding in findings)
    counts = {
        "tools": about.tools,
        "outputs": about.outputs,
        "severities": {word: severities[word] for word in ("error", "warning", "note")},
        "rules": dict(sorted(Counter(f.rule for f in findings).items())),
        "files": dict(sorted(Counter(f.place.file for f in findings).items())),
    }
    listed = [
        {
            "rule": finding.rule,
            "severity": finding.severity.word,
            **finding.place._asdict(),
            "message": finding.message,
            "help": finding.help,
            "fingerprint": fingerprint,
        }
        for finding, fingerprint in fingerprinted(to_show(findings))
    ]
    value = {"summary": counts, "findings": listed}
    return json.dumps(value, ensure_ascii=True, indent=2) + "\n"
