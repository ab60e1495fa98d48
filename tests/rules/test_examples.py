"""Bad and good examples in the documentation of rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast.findings import Severity
from toolcast.rules.rule import Rule
from toolcast.rules.table import list_built_in_rules

RULES = [pytest.param(rule, id=rule.id) for rule in list_built_in_rules()]


@pytest.mark.parametrize("rule", RULES)
def test_documented_examples_have_the_findings(rule: Rule, tmp_path: Path) -> None:
    """The rule reports its bad example; its good example has no warnings."""
    if rule.text.bad:
        write_example(rule.text.bad, tmp_path / "bad")
        assert rule.id in {finding.rule for finding in list_findings(tmp_path / "bad")}
    if rule.text.good:
        write_example(rule.text.good, tmp_path / "good")
        findings = list_findings(tmp_path / "good")
        assert rule.id not in {finding.rule for finding in findings}
        assert [f for f in findings if f.severity > Severity.NOTE] == []
