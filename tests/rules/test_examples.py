"""Every rule's own examples do what they are shown for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.layout import findings_of, lay_out
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
def test_the_bad_example_is_found(rule: Rule, tmp_path: Path) -> None:
    lay_out(rule.text.bad, tmp_path)
    assert rule.id in {finding.rule for finding in findings_of(tmp_path)}


@pytest.mark.parametrize("rule", GOOD)
def test_the_good_example_is_clean(rule: Rule, tmp_path: Path) -> None:
    lay_out(rule.text.good, tmp_path)
    findings = findings_of(tmp_path)
    assert rule.id not in {finding.rule for finding in findings}
    assert [f for f in findings if f.severity > Severity.NOTE] == []
