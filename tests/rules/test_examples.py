"""Bad and good examples in the documentation of rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast.findings import Severity
from toolcast.rules.rule import Rule
from toolcast.rules.table import list_built_in_rules

BAD = [
    pytest.param(rule, id=rule.id) for rule in list_built_in_rules() if rule.text.bad
]
GOOD = [
    pytest.param(rule, id=rule.id) for rule in list_built_in_rules() if rule.text.good
]


@pytest.mark.parametrize("rule", BAD)
def test_bad_example_in_rule_documentation_is_reported_by_that_rule(
    rule: Rule, tmp_path: Path
) -> None:
    write_example(rule.text.bad, tmp_path)
    assert rule.id in {finding.rule for finding in list_findings(tmp_path)}


@pytest.mark.parametrize("rule", GOOD)
def test_good_example_in_rule_documentation_has_no_warnings(
    rule: Rule, tmp_path: Path
) -> None:
    write_example(rule.text.good, tmp_path)
    findings = list_findings(tmp_path)
    assert rule.id not in {finding.rule for finding in findings}
    assert [f for f in findings if f.severity > Severity.NOTE] == []
