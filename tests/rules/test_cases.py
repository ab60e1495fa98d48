"""Findings of the projects in `<family>/<case>`, compared with `expected.txt`.

`REGENERATE=1` updates the files, and writes the bad example of a rule that has no case yet; read
the difference before you commit it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast.reports.formats import report_findings
from toolcast.reports.item import ReportContext, format_severity_counts
from toolcast.rules.table import list_built_in_rules

HERE = Path(__file__).parent
CASES = sorted(file.parent for file in HERE.glob("*/*/toolcast.yaml"))
# Rules for files and folders that are not stored as cases; other tests create them.
TESTED_ELSEWHERE = set(
    (
        "output/missing output/outdated output/orphaned output/foreign-file"
        " output/symlink output/invalid-marker output/outdated-region target/unexpected-output"
        " target/template-error yaml/too-large spec/unreadable handler/unanalyzed-code handler/import-error handler/missing-setting"
        " spec/output-overlaps-input spec/too-many-findings spec/invalid-document spec/missing-extension"
        " accept/expired accept/unused access/tool-count"
        " spec/outdated-schema output/not-in-wheel output/unknown-wheel"
    ).split()
)


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=f"{c.parent.name}/{c.name}") for c in CASES]
)
def test_findings_for_each_case_project_equal_its_expected_txt(case: Path) -> None:
    if os.environ.get("REGENERATE"):
        _write_expected(case)
    assert _report(case) == (case / "expected.txt").read_text(encoding="utf-8")


def _report(case: Path) -> str:
    findings = list_findings(case)
    return (
        report_findings(findings, "text", ReportContext(shows_all=True))
        + (format_severity_counts(findings) or "no findings")
        + "\n"
    )


def _write_expected(case: Path) -> None:
    (case / "expected.txt").write_text(_report(case), encoding="utf-8")


def test_every_check_rule_has_a_case_project() -> None:
    text = "".join((case / "expected.txt").read_text("utf-8") for case in CASES)
    missing = {
        rule.id: rule for rule in list_built_in_rules() if f": {rule.id}: " not in text
    }
    if os.environ.get("REGENERATE"):
        for id_ in missing.keys() - TESTED_ELSEWHERE:
            write_example(missing.pop(id_).text.bad, HERE / id_)
            _write_expected(HERE / id_)
    assert sorted(missing) == sorted(TESTED_ELSEWHERE)
